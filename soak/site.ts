/** A server with what stands before it, and the connections that lead to it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isOurs } from '../test/support/processes.ts';
import { FaultProxy } from './proxy.ts';
import { type HttpKind, ServerProcess } from './server-process.ts';
import type { Line, Subject, Target } from './subject.ts';

const STDIO = fileURLToPath(new URL('./servers/stdio.mjs', import.meta.url));

/** A place that always has a connection: a new one where the last was closed. */
export class Slot {
  readonly name: string;
  readonly site: Site;
  readonly #subject: Subject;
  readonly #target: (connection: string) => Target;
  #opened = 0;
  #line: Line;

  constructor(name: string, site: Site, subject: Subject, target: (connection: string) => Target) {
    this.name = name;
    this.site = site;
    this.#subject = subject;
    this.#target = target;
    this.#line = this.#open();
  }

  get line(): Line {
    return this.#line;
  }

  /** Its name towards the server and in every record. */
  get connection(): string {
    return `${this.name}#${this.#opened}`;
  }

  /** Closes the handle, with a new one in its place at once. */
  async reopen(): Promise<void> {
    const old = this.#line;
    this.#line = this.#open();
    await old.close();
  }

  #open(): Line {
    this.#opened++;
    return this.#subject.open(this.connection, this.#target(this.connection));
  }
}

export interface Site {
  readonly name: string;
  readonly journal: string;
  readonly http:
    | { readonly kind: HttpKind; readonly server: ServerProcess; readonly proxy: FaultProxy }
    | undefined;
  readonly slots: Slot[];
  /** Of the server's process now; undefined where none runs. */
  pid(): number | undefined;
}

/** Two connections go through the proxy; one leads straight to the server, so that it sees what TCP does. */
export async function httpSite(kind: HttpKind, folder: string): Promise<Site> {
  const journal = join(folder, `${kind}.jsonl`);
  const server = new ServerProcess(kind, journal);
  await server.start();
  const proxy = new FaultProxy(server.port);
  await proxy.listen();
  return { name: kind, journal, http: { kind, server, proxy }, slots: [], pid: () => server.pid };
}

export function stdioSite(name: string, folder: string): Site {
  const journal = join(folder, `${name}.jsonl`);
  const pidPath = join(folder, `${name}.pid`);
  writeFileSync(journal, '');
  writeFileSync(pidPath, '');
  return {
    name,
    journal,
    http: undefined,
    slots: [],
    pid() {
      const pid = Number(readFileSync(pidPath, 'utf8'));
      // Pids are used again.
      return pid > 0 && isOurs(pid, journal) ? pid : undefined;
    },
  };
}

export function connect(site: Site, subject: Subject, folder: string): void {
  const { name, http, journal, slots } = site;
  if (http === undefined) {
    const target = (connection: string): Target => ({
      kind: 'stdio',
      command: process.execPath,
      args: [STDIO, journal, connection, join(folder, `${name}.pid`)],
    });
    slots.push(new Slot(name, site, subject, target));
    return;
  }
  const path = http.kind === 'legacy' ? '/sse' : '/mcp';
  const over =
    (port: number) =>
    (connection: string): Target => ({
      kind: http.kind === 'legacy' ? 'sse' : 'http',
      isModern: http.kind === 'modern',
      url: `http://127.0.0.1:${port}${path}`,
      headers: { 'x-connection': connection },
    });
  for (const n of [1, 2]) slots.push(new Slot(`${name}-proxied-${n}`, site, subject, over(http.proxy.port)));
  slots.push(new Slot(`${name}-direct`, site, subject, over(http.server.port)));
}
