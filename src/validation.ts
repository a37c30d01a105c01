/** The validation of every option, which also fills in the defaults. Nothing is opened before all of it is valid. */

import { z } from 'zod';
import { delayMs, type Pace } from '../machines/connection.machine.ts';
import { MAX_DURATION_MS } from './durations.ts';
import { InvalidOptionsError } from './errors.ts';
import type { AdoptOptions, OwnOptions, Settings } from './options.ts';
import { quietly } from './quietly.ts';

const duration = z
  .number({ error: 'expected a duration in milliseconds' })
  .min(0, { error: 'expected a duration of 0 ms or more' })
  .max(MAX_DURATION_MS, { error: `expected a duration of at most ${MAX_DURATION_MS} ms` });
const positiveDuration = duration.gt(0, { error: 'expected a duration of more than 0 ms' });
const count = z
  .int({ error: 'expected a whole number' })
  .min(1, { error: 'expected a whole number of 1 or more' });
const flag = z.boolean({ error: 'expected true or false' });
const callable = z.custom<(...args: never[]) => unknown>((value) => typeof value === 'function', {
  error: 'expected a function',
});
const object = z.custom<object>((value) => typeof value === 'object' && value !== null, {
  error: 'expected an object',
});
const text = z
  .string({ error: 'expected a string' })
  .min(1, { error: 'expected a string that is not empty' });
/** What no operating system takes. */
const withoutNul = z
  .string({ error: 'expected a string' })
  .refine((value) => !value.includes('\0'), { error: 'expected a string without NUL characters' });
const path = withoutNul.min(1, { error: 'expected a string that is not empty' });
const environment = z.record(withoutNul, withoutNul, { error: 'expected an object of strings' });

const headers = z
  .record(z.string(), z.string({ error: 'expected a string' }), { error: 'expected an object of strings' })
  .superRefine((value, context) => {
    for (const [name, text] of Object.entries(value)) {
      if (quietly(() => new Headers([[name, text]])) !== undefined) continue;
      context.addIssue({
        code: 'custom',
        path: [name],
        message: 'expected a valid HTTP header',
      });
    }
  });

const httpUrl = z.custom<string | URL>(
  (value) => {
    if (!(value instanceof URL) && typeof value !== 'string') return false;
    return URL.canParse(value) && ['http:', 'https:'].includes(new URL(value).protocol);
  },
  { error: 'expected an absolute http: or https: URL' },
);

const sdk = z.custom<object>(
  (value) =>
    ['Client', 'SSEClientTransport', 'StreamableHTTPClientTransport'].every(
      (name) => typeof Object(value)[name] === 'function',
    ),
  { error: "expected sdk2 of 'mcp-steward/sdk-2'" },
);

/** In every kind of transport. */
const ofVersion2 = {
  sdk: sdk.optional(),
  versionNegotiation: z
    .strictObject({
      mode: z
        .union([z.enum(['auto', 'legacy']), z.strictObject({ pin: text })], {
          error: "expected 'auto', 'legacy' or { pin: … }",
        })
        .optional(),
      probe: z
        .strictObject({
          timeoutMs: positiveDuration.optional(),
          maxRetries: z.int({ error: 'expected a whole number' }).min(0).optional(),
        })
        .optional(),
    })
    .optional(),
};

function checkNegotiation({ value, issues }: z.core.ParsePayload<z.output<z.ZodObject<typeof ofVersion2>>>) {
  if (value.sdk !== undefined || value.versionNegotiation === undefined) return;
  const message = "expected only together with sdk: sdk2 of 'mcp-steward/sdk-2'";
  issues.push({ code: 'custom', path: ['versionNegotiation'], message, input: undefined });
}

function httpTransport<Kind extends 'http' | 'sse'>(kind: Kind) {
  return z
    .strictObject({
      kind: z.literal(kind),
      url: httpUrl,
      headers: headers.optional(),
      authProvider: object.optional(),
      fetch: callable.optional(),
      ...ofVersion2,
    })
    .check(checkNegotiation)
    .refine(({ url, fetch }) => fetch !== undefined || !hasCredentials(new URL(url)), {
      path: ['url'],
      error: 'expected a URL without credentials, which fetch() refuses: pass them in headers',
    });
}

function hasCredentials({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}

const transport = z.discriminatedUnion(
  'kind',
  [
    httpTransport('http'),
    httpTransport('sse'),
    z
      .strictObject({
        kind: z.literal('stdio'),
        command: path,
        args: z.array(withoutNul, { error: 'expected a list of strings' }).optional(),
        env: environment.optional(),
        cwd: path.optional(),
        secrets: z
          .array(z.string({ error: 'expected a string' }), { error: 'expected a list of strings' })
          .optional(),
        ...ofVersion2,
      })
      .check(checkNegotiation),
  ],
  { error: "expected { kind: 'http' | 'sse' | 'stdio', … }" },
);

const replayPolicy = z.enum(['safe', 'if-unsent', 'never'], {
  error: "expected 'safe', 'if-unsent' or 'never'",
});

/** Where delays are set to nothing, no window ends the dials in time. */
const MAX_DEFAULT_ATTEMPTS = 100;

const waiting = { waitForReady: flag.default(true), maxWaiting: count.default(1_000) };

const recovery = z.strictObject({
  recreate: z.enum(['on-demand', 'eager'], { error: "expected 'on-demand' or 'eager'" }).default('on-demand'),
  maxAttempts: count.optional(),
  windowMs: positiveDuration.default(120_000),
  firstReadyMs: duration.default(2_000),
  stableMs: positiveDuration.default(30_000),
  coolDownMs: duration.default(30_000),
  initialBackoffMs: duration.default(200),
  maxBackoffMs: duration.optional(),
  ...waiting,
});

/** What follows from how a dial is made. By default it is the window that ends a recovery. */
function withPace(given: z.output<typeof recovery>, spawns: boolean): Settings['recovery'] {
  const { windowMs, initialBackoffMs, maxBackoffMs = spawns ? 10_000 : 3_000 } = given;
  const maxAttempts = given.maxAttempts ?? attemptsIn(windowMs, { spawns, initialBackoffMs, maxBackoffMs });
  return Object.assign(given, { maxBackoffMs, maxAttempts });
}

/** With the shortest delays that there can be. */
function attemptsIn(windowMs: number, pace: Pace): number {
  let attempts = 1;
  for (let passedMs = 0; passedMs < windowMs && attempts < MAX_DEFAULT_ATTEMPTS; attempts++) {
    passedMs += delayMs(pace, attempts, 0);
  }
  return attempts;
}

const requestTimeoutMs = positiveDuration.default(60_000);

const timeouts = z.strictObject({
  connectTimeoutMs: positiveDuration.default(30_000),
  requestTimeoutMs,
  drainTimeoutMs: duration.default(5_000),
  closeTimeoutMs: positiveDuration.default(5_000),
});

const liveness = z
  .strictObject({
    probeTimeoutMs: positiveDuration.default(5_000),
    heartbeatMs: positiveDuration.optional(),
    missedProbes: count.optional(),
    missedHeartbeats: count.optional(),
    silenceMs: duration.default(30_000),
    busySilenceMs: duration.default(120_000),
  })
  .transform(({ missedProbes, missedHeartbeats, ...rest }) => ({
    // The spread comes last: V8 gives each object that begins with one a shape of its own, a quarter of a KB.
    missedProbes: missedProbes ?? missedHeartbeats ?? 3,
    ...rest,
  }));

const evidence = z.strictObject({ trust404: flag.default(true), classify: callable.optional() });

const own = z
  .strictObject({
    transport: transport.optional(),
    connect: callable.optional(),
    recovery: recovery.prefault({}),
    replay: z
      .strictObject({
        tools: z.record(z.string(), replayPolicy).optional(),
        trustAnnotations: flag.optional(),
      })
      .default({}),
    liveness: liveness.prefault({}),
    timeouts: timeouts.prefault({}),
    evidence: evidence.prefault({}),
    lazy: flag.default(false),
  })
  .refine((options) => (options.transport === undefined) !== (options.connect === undefined), {
    error: 'expected either transport or connect, and not both',
  });

const adopt = z.strictObject({
  recovery: z.strictObject(waiting).prefault({}),
  liveness: liveness.prefault({}),
  timeouts: z.strictObject({ requestTimeoutMs }).prefault({}),
  evidence: evidence.prefault({}),
});

const supervisor = z.strictObject({
  clientInfo: z.looseObject({ name: text, version: text }, { error: 'expected { name, version }' }),
  capabilities: object.optional(),
  setup: callable.optional(),
  inspect: z
    .custom<object>((value) => typeof value === 'function' || typeof Object(value).next === 'function', {
      error: 'expected an XState inspection observer: a function, or an object with next()',
    })
    .optional(),
  telemetry: z.looseObject({ attach: callable }).optional(),
  logger: z.looseObject({ debug: callable, info: callable, warn: callable, error: callable }).optional(),
  clock: z.looseObject({ setTimeout: callable, clearTimeout: callable }).optional(),
});

/** Says where, and what was expected; never what was found, which may be a secret. */
function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  connection: string,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const path = [...issue.path, issue.keys[0]].join('.');
    throw new InvalidOptionsError(connection, path, 'there is no such option');
  }
  const path = issue?.path.join('.') || 'options';
  throw new InvalidOptionsError(connection, path, issue?.message ?? 'invalid');
}

export function checkName(name: unknown): asserts name is string {
  if (typeof name !== 'string' || name.trim() === '') {
    throw new InvalidOptionsError('', 'name', 'expected a string that is not empty');
  }
}

export function checkSupervisorOptions(options: unknown): void {
  check(supervisor, options, '');
}

export function ownSettings(name: string, options: OwnOptions): Settings {
  const { recovery: given, ...rest } = check(own, options, name);
  return { recovery: withPace(given, rest.transport?.kind === 'stdio'), ...rest } as Settings;
}

export function adoptSettings(name: string, options: AdoptOptions): Settings {
  const checked = check(adopt, options, name);
  return {
    ...checked,
    recovery: withPace({ ...recovery.parse({}), ...checked.recovery }, false),
    timeouts: { ...timeouts.parse({}), ...checked.timeouts },
    replay: {},
    lazy: false,
  } as Settings;
}
