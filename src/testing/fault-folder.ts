import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The temporary folder of one fault server. Its path is all that a server process is started with. */
export class FaultFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'mcp-steward-fault-'));
  /** What the processes count: one JSON a line. */
  readonly ledger = join(this.path, 'ledger.jsonl');
  /** What HTTP processes write to stderr. */
  readonly stderr = join(this.path, 'stderr.txt');
  /** Node itself, by a name that can be taken away. */
  readonly command = join(this.path, 'node');

  constructor() {
    writeFileSync(this.ledger, '');
    writeFileSync(this.stderr, '');
    this.restoreCommand();
  }

  /** Says where the control socket is. In a file and not in arguments or environment: `ps` shows those. */
  writeControl(control: { port: number; token: string }): void {
    writeFileSync(join(this.path, 'control.json'), JSON.stringify(control), { mode: 0o600 });
  }

  removeCommand(): void {
    rmSync(this.command, { force: true });
  }

  restoreCommand(): void {
    this.removeCommand();
    symlinkSync(process.execPath, this.command);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
