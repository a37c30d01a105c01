// Every recovery route, walked on a host's own wrapper. Here the wrapper is a class with one tool runner; in a host's
// test suite, each route is a test: `test(route.name, () => route.run(embed))`.
import {
  type ConnectionHandle,
  createSupervisor,
  type OwnOptions,
  type SupervisorOptions,
} from 'mcp-steward';
import { type Embed, FaultServer, recoveryRoutes } from 'mcp-steward/testing';

/** What a host might have: its users call `run()`, and never see a connection. */
class ToolRunner {
  readonly #supervisor;
  readonly connection: ConnectionHandle;

  constructor(own: OwnOptions, options: Partial<SupervisorOptions> = {}) {
    this.#supervisor = createSupervisor({ clientInfo: { name: 'my-host', version: '1.0.0' }, ...options });
    this.connection = this.#supervisor.own('files', own);
  }

  run(tool: string, args: Record<string, unknown>, timeoutMs: number): Promise<unknown> {
    return this.connection.callTool({ name: tool, arguments: args }, undefined, { timeout: timeoutMs });
  }

  close(): Promise<void> {
    return this.#supervisor.close();
  }
}

const embed: Embed = ({ supervisor, own }) => {
  const runner = new ToolRunner(own, supervisor);
  return {
    connection: runner.connection,
    callTool: (name, args, timeoutMs) => runner.run(name, args, timeoutMs),
    close: () => runner.close(),
  };
};

const routes = recoveryRoutes({ ownership: 'supervisor', transport: 'http' });
await using server = await FaultServer.start({ transport: 'http' });
for (const route of routes) await route.run(embed, { server });
console.log(`${routes.length} routes walked`);
