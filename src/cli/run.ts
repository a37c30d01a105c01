/** The commands, and which options each of them takes. */
import { type Arguments, type Option, parse } from './arguments.ts';
import { UsageError } from './usage-error.ts';

const USAGE = `Usage: mcp-steward <command> [options]

  check    connect to every server once, list what it offers and how long that took
             --config FILE   default: mcp.json or .mcp.json
             --json          one JSON object
  watch    hold a connection to every server, and show what becomes of it
             --config FILE, --json (one event a line)
  inspect  the same on a local web page
             --config FILE, --port N (default: any free one), --open (in the browser; other users of this
                             machine can see the address while it opens)
  graph    print a state machine: graph [connection|operation]
             --format mermaid|json|dot|svg   default: mermaid

Exit codes: 0 all is well; 1 a server failed, or was not ready at the end; 2 wrong usage or configuration.
`;

interface Command {
  readonly takes: readonly Option[];
  readonly maxOperands: number;
  run(args: Arguments): Promise<number>;
}

/** Each is loaded when it is wanted: to print a machine takes no MCP client. */
const COMMANDS: Readonly<Record<string, Command>> = {
  check: {
    takes: ['config', 'json'],
    maxOperands: 0,
    run: async (args) => (await import('./check.ts')).check(args),
  },
  watch: {
    takes: ['config', 'json'],
    maxOperands: 0,
    run: async (args) => (await import('./watch.ts')).watch(args),
  },
  inspect: {
    takes: ['config', 'port', 'open'],
    maxOperands: 0,
    run: async (args) => (await import('./inspect.ts')).inspect(args),
  },
  graph: {
    takes: ['format'],
    maxOperands: 1,
    run: async (args) => (await import('./graph.ts')).graph(args),
  },
};

/** Resolves with the exit code. @throws {UsageError | InvalidOptionsError} what is wrong in the command or the file */
export async function run(argv: readonly string[]): Promise<number> {
  const args = parse(argv);
  if (args.options.help || args.command === undefined) {
    process.stdout.write(USAGE);
    return args.options.help ? 0 : 2;
  }
  const command = Object.hasOwn(COMMANDS, args.command) ? COMMANDS[args.command] : undefined;
  if (command === undefined) throw new UsageError(`there is no command "${args.command}"`);
  const strange = Object.keys(args.options).find((option) => !command.takes.includes(option as never));
  if (strange !== undefined) throw new UsageError(`${args.command} takes no --${strange}`);
  if (args.operands.length > command.maxOperands) {
    throw new UsageError(`${args.command}: "${args.operands.at(-1)}" is too much`);
  }
  return command.run(args);
}
