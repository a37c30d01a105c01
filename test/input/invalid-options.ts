/** Wrong options, each with the path and the expectation that its error must name. */

/** In every value that is found; it must never come back in a message. */
export const SECRET = 'hunter2-s3cr3t';

export type WrongOption = [what: string, options: unknown, path: string, expected: string];

const http = { kind: 'http', url: `http://127.0.0.1:9/mcp?token=${SECRET}`, headers: { 'x-key': SECRET } };
const stdio = { kind: 'stdio', command: 'node', env: { TOKEN: SECRET } };
const valid = { transport: http };

const DURATION = 'expected a duration';
const WHOLE = 'expected a whole number';
const NO_SUCH = 'there is no such option';

const POSITIVE = [
  'recovery.windowMs',
  'recovery.stableMs',
  'timeouts.connectTimeoutMs',
  'timeouts.requestTimeoutMs',
  'timeouts.closeTimeoutMs',
  'liveness.probeTimeoutMs',
  'liveness.heartbeatMs',
];
const ZERO_OR_MORE = [
  'recovery.coolDownMs',
  'recovery.initialBackoffMs',
  'recovery.maxBackoffMs',
  'timeouts.drainTimeoutMs',
  'liveness.silenceMs',
  'liveness.busySilenceMs',
];
const COUNTS = [
  'recovery.maxAttempts',
  'recovery.maxWaiting',
  'liveness.missedProbes',
  'liveness.missedHeartbeats',
];
const NO_DURATIONS = [-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '5', SECRET, null, {}];
const NO_COUNTS = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, SECRET, null];

/** `recovery.windowMs` → `{ recovery: { windowMs: value } }` */
function at(path: string, value: unknown): object {
  return path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as object;
}

function each(paths: string[], values: unknown[], expected: string): WrongOption[] {
  return paths.flatMap((path) =>
    values.map(
      (value): WrongOption => [`${path}: ${String(value)}`, { ...valid, ...at(path, value) }, path, expected],
    ),
  );
}

export const WRONG_NUMBERS: WrongOption[] = [
  ...each([...POSITIVE, ...ZERO_OR_MORE], NO_DURATIONS, DURATION),
  ...each(POSITIVE, [0], 'more than 0 ms'),
  ...each(COUNTS, NO_COUNTS, WHOLE),
];

const unknown = (path: string): WrongOption => [
  `unknown ${path}`,
  { ...valid, ...at(path, SECRET) },
  path,
  NO_SUCH,
];

export const WRONG_SHAPES: WrongOption[] = [
  ['no options', undefined, 'options', 'expected'],
  ['options: null', null, 'options', 'expected'],
  ['options: a string', SECRET, 'options', 'expected'],
  ['neither transport nor connect', {}, 'options', 'either transport or connect'],
  ['both', { ...valid, connect: async () => ({}) }, 'options', 'not both'],
  ['connect: an object', { connect: { secret: SECRET } }, 'connect', 'expected a function'],
  ['lazy: a string', { ...valid, lazy: SECRET }, 'lazy', 'expected true or false'],
  ['recovery: null', { ...valid, recovery: null }, 'recovery', 'expected object'],
  ['timeouts: a number', { ...valid, timeouts: 5 }, 'timeouts', 'expected object'],
  ['recreate', { ...valid, recovery: { recreate: SECRET } }, 'recovery.recreate', "'on-demand' or 'eager'"],
  ['waitForReady', { ...valid, recovery: { waitForReady: 1 } }, 'recovery.waitForReady', 'true or false'],
  ['trust404', { ...valid, evidence: { trust404: SECRET } }, 'evidence.trust404', 'true or false'],
  ['classify', { ...valid, evidence: { classify: SECRET } }, 'evidence.classify', 'expected a function'],
  ['a policy', { ...valid, replay: { tools: { write: SECRET } } }, 'replay.tools.write', "'safe'"],
  ['replay: null', { ...valid, replay: null }, 'replay', 'expected object'],
  unknown('recover'),
  unknown('recovery.maxAttempt'),
  unknown('timeouts.connect'),
  unknown('liveness.pingMs'),
  unknown('replay.trust'),
  unknown('evidence.trust'),
];

const transport = (description: unknown, path: string, expected: string): WrongOption => [
  `transport ${JSON.stringify(description)}`.replaceAll(SECRET, '…'),
  { transport: description },
  path,
  expected,
];
const KINDS = "'http' | 'sse' | 'stdio'";
const URL_EXPECTED = 'expected an absolute http: or https: URL';

export const WRONG_TRANSPORTS: WrongOption[] = [
  transport(null, 'transport', KINDS),
  transport(SECRET, 'transport', KINDS),
  transport([], 'transport', KINDS),
  transport({}, 'transport.kind', KINDS),
  transport({ ...http, kind: SECRET }, 'transport.kind', KINDS),
  transport({ ...http, kind: 'websocket' }, 'transport.kind', KINDS),
  transport({ url: http.url }, 'transport.kind', KINDS),
  transport({ ...http, token: SECRET }, 'transport.token', NO_SUCH),
  transport({ ...stdio, url: http.url }, 'transport.url', NO_SUCH),
  transport(
    { ...http, headers: { authorization: 5 } },
    'transport.headers.authorization',
    'expected a string',
  ),
  transport({ ...http, headers: SECRET }, 'transport.headers', 'expected an object of strings'),
  transport({ ...http, headers: { 'x-a': `a\n${SECRET}` } }, 'transport.headers.x-a', 'a valid HTTP header'),
  transport({ ...http, headers: { 'x a': SECRET } }, 'transport.headers.x a', 'a valid HTTP header'),
  transport({ ...http, url: `http://me:${SECRET}@127.0.0.1/` }, 'transport.url', 'without credentials'),
  transport({ ...http, authProvider: SECRET }, 'transport.authProvider', 'expected an object'),
  transport({ ...http, fetch: SECRET }, 'transport.fetch', 'expected a function'),
  transport({ kind: 'stdio', env: { TOKEN: SECRET } }, 'transport.command', 'expected a string'),
  transport({ ...stdio, command: '' }, 'transport.command', 'not empty'),
  transport({ ...stdio, command: ['node', SECRET] }, 'transport.command', 'expected a string'),
  transport({ ...stdio, args: SECRET }, 'transport.args', 'expected a list of strings'),
  transport({ ...stdio, args: ['-e', 5] }, 'transport.args.1', 'expected a string'),
  transport({ ...stdio, args: ['-e', `\0${SECRET}`] }, 'transport.args.1', 'without NUL'),
  transport({ ...stdio, command: 'no\0de' }, 'transport.command', 'without NUL'),
  transport({ ...stdio, cwd: '/\0' }, 'transport.cwd', 'without NUL'),
  transport({ ...stdio, secrets: SECRET }, 'transport.secrets', 'expected a list of strings'),
  transport({ ...stdio, env: { TOKEN: `${SECRET}\0` } }, 'transport.env.TOKEN', 'without NUL'),
  transport({ ...stdio, env: { TOKEN: 5 } }, 'transport.env.TOKEN', 'expected a string'),
  transport({ ...stdio, cwd: '' }, 'transport.cwd', 'not empty'),
  ...[
    undefined,
    null,
    5,
    '',
    SECRET,
    `/mcp?token=${SECRET}`,
    `ftp://user:${SECRET}@127.0.0.1/mcp`,
    `ws://127.0.0.1/mcp?token=${SECRET}`,
    `file:///${SECRET}`,
    `javascript:${SECRET}`,
    `127.0.0.1:3000/${SECRET}`,
    `//127.0.0.1/${SECRET}`,
    new URL(`ftp://127.0.0.1/${SECRET}`),
  ].flatMap((url) => ['http', 'sse'].map((kind) => transport({ kind, url }, 'transport.url', URL_EXPECTED))),
];

/** What `adopt` does not take: a connection of the caller's is not recreated. */
export const WRONG_FOR_ADOPT: WrongOption[] = [
  ['null', null, 'options', 'expected'],
  ['transport', { transport: http }, 'transport', NO_SUCH],
  ['lazy', { lazy: true }, 'lazy', NO_SUCH],
  ['recovery.maxAttempts', { recovery: { maxAttempts: 1 } }, 'recovery.maxAttempts', NO_SUCH],
  ['timeouts.connectTimeoutMs', { timeouts: { connectTimeoutMs: 1 } }, 'timeouts.connectTimeoutMs', NO_SUCH],
  [
    'timeouts.requestTimeoutMs',
    { timeouts: { requestTimeoutMs: -1 } },
    'timeouts.requestTimeoutMs',
    DURATION,
  ],
  ['liveness.heartbeatMs', { liveness: { heartbeatMs: Number.NaN } }, 'liveness.heartbeatMs', DURATION],
];

const clientInfo = { name: 'host', version: '1.0.0' };

export const WRONG_FOR_SUPERVISOR: WrongOption[] = [
  ['nothing', undefined, 'options', 'expected'],
  ['no clientInfo', {}, 'clientInfo', 'expected { name, version }'],
  ['an empty name', { clientInfo: { name: '', version: SECRET } }, 'clientInfo.name', 'not empty'],
  ['no version', { clientInfo: { name: SECRET } }, 'clientInfo.version', 'expected a string'],
  ['an unknown option', { clientInfo, token: SECRET }, 'token', NO_SUCH],
  ['setup: no function', { clientInfo, setup: SECRET }, 'setup', 'expected a function'],
  ['capabilities: a string', { clientInfo, capabilities: SECRET }, 'capabilities', 'expected an object'],
  [
    'a logger without warn',
    { clientInfo, logger: { debug() {}, info() {}, error() {} } },
    'logger.warn',
    'expected a function',
  ],
  ['a logger: null', { clientInfo, logger: null }, 'logger', 'expected'],
  ['half a clock', { clientInfo, clock: { setTimeout() {} } }, 'clock.clearTimeout', 'expected a function'],
];
