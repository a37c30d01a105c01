/** Ours: one connection with its defaults, one that looks after itself, one that is recreated on every loss. */
import { createSupervisor } from 'mcp-steward';
import {
  answerQuestions,
  CAPABILITIES,
  CLIENT_INFO,
  type Line,
  SAFE_TOOL,
  type Subject,
  type Target,
  type Watcher,
} from './subject.ts';

export class Steward implements Subject {
  readonly #supervisor = createSupervisor({
    clientInfo: CLIENT_INFO,
    capabilities: CAPABILITIES,
    setup: answerQuestions,
  });
  readonly #watcher: Watcher;

  constructor(watcher: Watcher) {
    this.#watcher = watcher;
  }

  open(name: string, transport: Target): Line {
    const handle = this.#supervisor.own(name, {
      transport,
      replay: { tools: { [SAFE_TOOL]: 'safe' } },
      ...(name.includes('-2#') && { liveness: { heartbeatMs: 500 } }),
      ...(name.includes('-direct#') && { recovery: { recreate: 'eager' } }),
    });
    handle.on('transition', ({ from, to }) => this.#watcher.transition(name, from, to));
    handle.on('recreated', ({ generation }) => this.#watcher.recreated(name, generation));
    return handle;
  }

  close(): Promise<void> {
    return this.#supervisor.close();
  }
}
