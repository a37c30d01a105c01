// What the test server offers, defined once for the v1 and the v2 SDK. The differences between the
// two are in `era` (see era-v1.mjs and era-v2.mjs).
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { z } from 'zod';
import { giveLock } from './exclusive.mjs';

const sleep = (ms) => (ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined);
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const key = z.string().optional();
const ms = z.number().optional();

/**
 * @param {object} server an McpServer of either SDK
 * @param {object} host
 * @param {{ write(event: string, facts?: object): void }} host.ledger
 * @param {object} host.options the options of the process
 * @param {number} host.toolsVersion which list of tools to offer
 * @param {string | null} host.session
 * @param {(session: string | null) => void} host.evict
 * @param {object} era
 */
export function defineTools(server, host, era) {
  const { ledger, session } = host;

  /** Every tool writes `call` when it begins and `run` at the moment of its effect. */
  const tool = (name, schema, annotations, body) =>
    server.registerTool(
      name,
      {
        description: `${name} of the test server`,
        inputSchema: z.object({ key, ...schema }),
        ...(annotations && { annotations }),
      },
      async (args, extra) => {
        const run = () => ledger.write('run', { tool: name, key: args.key, session });
        ledger.write('call', { tool: name, key: args.key, session });
        return (
          (await body(args, { run, ...era.call(server, extra) })) ?? text(`${name} ${args.key ?? ''}`.trim())
        );
      },
    );

  /** An effect with an optional wait before and after it. */
  const effect = async (args, { run }) => {
    await sleep(args.delayMs);
    run();
    await sleep(args.holdMs);
  };
  const waits = { delayMs: ms, holdMs: ms };

  tool('echo', { text: z.string().optional(), ...waits }, { readOnlyHint: true }, async (args, call) => {
    await effect(args, call);
    return text(args.text ?? '');
  });
  tool('append', waits, undefined, effect);
  tool('read', waits, { readOnlyHint: true }, effect);
  tool('idempotent', waits, { idempotentHint: true }, effect);
  tool('notIdempotent', waits, { idempotentHint: false }, effect);
  tool('contradictory', waits, { readOnlyHint: true, destructiveHint: true }, effect);

  tool('fails', {}, undefined, (_args, { run }) => {
    run();
    return { ...text('Session terminated'), isError: true };
  });
  // Answered below McpServer (low-level.mjs), which would make an `isError` result of what it throws.
  tool('rpcError', { code: z.number(), message: z.string() }, undefined, () => undefined);

  tool('slow', { ms: z.number() }, undefined, async (args, { run }) => {
    run();
    await sleep(args.ms);
  });
  // The only thread is taken: nothing is read, and so no ping is answered either.
  tool('block', { ms: z.number() }, undefined, (args, { run }) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, args.ms);
    run();
  });
  // Says something again and again, and answers late.
  tool(
    'speak',
    { as: z.enum(['log', 'progress', 'elicit']), everyMs: z.number(), times: z.number() },
    undefined,
    async (args, { log, progress, elicit }) => {
      const say = {
        log: () => log('info', 'still at work'),
        progress: (step) => progress(step, args.times),
        // Nobody waits for the answer.
        elicit: () => void elicit('Still there?').catch(() => {}),
      };
      for (let step = 1; step <= args.times; step++) {
        await sleep(args.everyMs);
        await say[args.as](step);
      }
    },
  );
  tool('progress', { steps: z.number(), everyMs: z.number() }, undefined, async (args, { run, progress }) => {
    for (let step = 1; step <= args.steps; step++) {
      await progress(step, args.steps);
      await sleep(args.everyMs);
    }
    run();
  });
  tool('hang', {}, undefined, (_args, { run }) => {
    run();
    return new Promise(() => {});
  });
  tool('huge', { bytes: z.number() }, { readOnlyHint: true }, (args, { run }) => {
    run();
    return text('x'.repeat(args.bytes));
  });

  tool(
    'exit',
    { code: z.number().optional(), afterRun: z.boolean().optional(), atOnce: z.boolean().optional() },
    undefined,
    (args, { run }) => {
      if (args.afterRun !== false) run();
      if (args.atOnce) process.kill(process.pid, 'SIGKILL');
      process.stderr.write('fatal: the test server was told to exit\n', () => process.exit(args.code ?? 0));
      return new Promise(() => {});
    },
  );
  tool('evictMe', { holdMs: ms }, undefined, async (args, { run }) => {
    run();
    host.evict(session);
    await sleep(args.holdMs ?? 0);
  });
  // `times`: of so many questions; at 2026-07-28 only, where it runs once for each request of the call.
  const question = { message: z.string().optional(), times: z.number().optional() };
  tool('elicit', question, undefined, (args, { run, elicit }) => {
    run();
    return elicit(args.message ?? 'Go on?', args.times ?? 1);
  });
  tool('log', { level: z.string().optional() }, { readOnlyHint: true }, async (args, { run, log }) => {
    run();
    await log(args.level ?? 'info', 'a line of the test server');
  });

  if (host.options.transport === 'stdio') defineStdioTools(tool, host);

  // Another list after a restart (or after `toolsVersion()`): one goes, one comes, one changes.
  const changed = host.toolsVersion > 1;
  tool(changed ? 'added' : 'removable', {}, { readOnlyHint: true }, effect);
  tool(
    'changing',
    changed ? { amount: z.number() } : { amount: z.string().optional() },
    { readOnlyHint: true },
    effect,
  );
  for (let n = 0; n < (host.options.extraTools ?? 0); n++)
    tool(`extra${n}`, {}, { readOnlyHint: true }, effect);
}

/** Tools that only make sense where the server has pipes. */
function defineStdioTools(tool, { ledger, options }) {
  tool('closeStdin', {}, undefined, (_args, { run }) => {
    run();
    process.stdin.destroy();
    setImmediate(() => closeSync(0)); // libuv never closes the descriptors 0 to 2 by itself
    setTimeout(() => process.exit(0), 60_000); // lives on, but not for ever
  });
  const stdio = z.array(z.string()).optional();
  tool('spawnGrandchild', { stdio }, undefined, (args, { run }) => {
    run();
    // The ledger's path is in its arguments, so that the harness knows the process for its own.
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)', options.ledger ?? ''], {
      stdio: args.stdio ?? 'inherit',
    });
    child.unref();
    if (options.exclusive === 'lock') giveLock(options.ledger, child.pid);
    ledger.write('grandchild', { child: child.pid });
  });
  tool('garbage', {}, undefined, (_args, { run }) => {
    run();
    process.stdout.write('this is not JSON\n{"json": "but not JSON-RPC"}\n\n');
  });
}

/** Prompts, resources, a template, completions. */
export function definePromptsAndResources(server, era) {
  const starts = (values) => (value) => values.filter((each) => each.startsWith(value ?? ''));

  server.registerPrompt(
    'greet',
    {
      description: 'greets',
      argsSchema: era.promptArgs({ name: era.completable(z.string(), starts(['ada', 'alan', 'grace'])) }),
    },
    ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello ${name}` } }] }),
  );

  const read = (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: `content of ${uri.href}` }],
  });
  for (const name of ['one', 'two', 'three']) {
    server.registerResource(name, `text://${name}`, { mimeType: 'text/plain' }, read);
  }
  server.registerResource(
    'item',
    new era.ResourceTemplate('item://{id}', { list: undefined, complete: { id: starts(['1', '10', '2']) } }),
    { mimeType: 'text/plain' },
    read,
  );
}
