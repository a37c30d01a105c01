/** Reads a file of MCP servers as hosts keep it: `{ "mcpServers": { name: … } }`, or VS Code's `{ "servers": … }`. */
import { existsSync, readFileSync } from 'node:fs';
import stripJsonComments from 'strip-json-comments';
import { z } from 'zod';
import type { OwnedTransport, Sdk2 } from '../transports/recipe.ts';
import { expanded } from './expand.ts';
import { UsageError } from './usage-error.ts';

const DEFAULT_FILES = ['mcp.json', '.mcp.json'];

const text = z.string({ error: 'expected a string' });
const texts = z.record(z.string(), text, { error: 'expected an object of strings' });
/** Hosts keep more in these entries than concerns a connection. */
const entry = z.looseObject(
  {
    type: z
      .enum(['stdio', 'http', 'streamable-http', 'streamableHttp', 'sse'], {
        error: 'expected stdio, http or sse',
      })
      .optional(),
    disabled: z.boolean({ error: 'expected true or false' }).optional(),
    command: text.optional(),
    args: z.array(text, { error: 'expected a list of strings' }).optional(),
    env: texts.optional(),
    cwd: text.optional(),
    url: text.optional(),
    headers: texts.optional(),
    sdk: z.union([z.literal(1), z.literal(2)], { error: 'expected 1 or 2' }).optional(),
  },
  { error: 'expected an object' },
);
const servers = z.record(z.string(), entry, { error: 'expected an object of servers' });

type Entry = z.output<typeof entry>;

/** By name. An entry with `"disabled": true` is left out. */
export type Servers = ReadonlyMap<string, OwnedTransport>;

/** @throws {UsageError} saying where, and what was expected; never what was found, which may be a secret. */
export async function readServers(
  path: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Servers> {
  const place = path ?? DEFAULT_FILES.find((name) => existsSync(name));
  if (place === undefined) {
    throw new UsageError(`there is no ${DEFAULT_FILES.join(' or ')} here: name a file with --config`);
  }
  const entries = Object.entries(entriesOf(place));
  if (entries.length === 0) throw new UsageError(`${place}: it has no server that is not disabled`);
  const needsVersion2 = entries.find(([, { sdk }]) => sdk === 2)?.[0];
  const sdk2 = needsVersion2 && (await loadVersion2(`${place}: ${needsVersion2}`));
  return new Map(
    entries.map(([name, found]) => {
      // What it says that is no part of the transport, nobody has to fill in.
      const { value, filled, missing } = expanded(transportOf(`${place}: ${name}`, found), env);
      if (missing !== undefined) throw new UsageError(`${place}: ${name}: ${missing}`);
      const byVersion = found.sdk === 2 && sdk2 ? { sdk: sdk2 } : {};
      return [name, { ...value, ...(value.kind === 'stdio' && { secrets: filled }), ...byVersion }];
    }),
  );
}

async function loadVersion2(place: string): Promise<Sdk2> {
  try {
    return (await import('../sdk-2.ts')).sdk2;
  } catch {
    throw new UsageError(
      `${place}: it needs SDK v2, which is not installed: npm install @modelcontextprotocol/client`,
    );
  }
}

function entriesOf(place: string): Readonly<Record<string, Entry>> {
  const parsed = Object(parsedFile(place)) as Record<string, unknown>;
  const key = Object.hasOwn(parsed, 'servers') ? 'servers' : 'mcpServers';
  const result = servers.safeParse(enabled(parsed[key]));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new UsageError(`${place}: ${[key, ...(issue?.path ?? [])].join('.')}: ${issue?.message}`);
}

/** What is wrong in an entry that is switched off is in nobody's way. */
function enabled(list: unknown): unknown {
  if (typeof list !== 'object' || list === null || Array.isArray(list)) return list;
  return Object.fromEntries(Object.entries(list).filter(([, each]) => Object(each).disabled !== true));
}

function parsedFile(place: string): unknown {
  try {
    // With comments, as editors keep it, and the mark that some put before everything.
    const content = readFileSync(place, 'utf8').replace(/^\uFEFF/, '');
    return JSON.parse(stripJsonComments(content, { trailingCommas: true }));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // What does not parse is not repeated: it may stand in the middle of a token.
    throw new UsageError(
      `${place}: ${code === undefined ? 'it is not JSON' : `it cannot be read (${code})`}`,
    );
  }
}

function transportOf(place: string, { type, command, args, env, cwd, url, headers }: Entry): OwnedTransport {
  if (command !== undefined && url !== undefined) {
    throw new UsageError(`${place}: it has both a command and a url`);
  }
  if (command === undefined && url === undefined) {
    throw new UsageError(`${place}: it has neither a command nor a url`);
  }
  if (type !== undefined && (type === 'stdio') !== (url === undefined)) {
    throw new UsageError(
      `${place}: its type is ${type}, and it has a ${url === undefined ? 'command' : 'url'}`,
    );
  }
  if (command !== undefined) return { kind: 'stdio', command, args, env, cwd };
  return { kind: type === 'sse' ? 'sse' : 'http', url: url as string, headers };
}
