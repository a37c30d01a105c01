/** Buttons that a demo adds to each connection. */
import type { Supervisor } from '../../supervisor.ts';
import type { Snapshot } from './wire.ts';

/**
 * More buttons for each connection, by a name of their own: `run` is called with the connection's name. Meant for
 * demos that break things before one's eyes. A page without them changes nothing.
 */
export type PageControls = Readonly<
  Record<string, { readonly label: string; run(connection: string): Promise<void> | void }>
>;

export function labelsOf(controls: PageControls): Snapshot['controls'] {
  return Object.entries(controls).map(([name, { label }]) => ({ name, label }));
}

/** Returns the status of the answer. What went wrong is the host's to know: the page only hears that it did. */
export async function runControl(
  controls: PageControls,
  supervisor: Supervisor,
  asked: URLSearchParams,
): Promise<204 | 404 | 500> {
  const name = asked.get('control') ?? '';
  const connection = asked.get('connection') ?? '';
  const control = Object.hasOwn(controls, name) ? controls[name] : undefined;
  if (control === undefined || !supervisor.connections.has(connection)) return 404;
  try {
    await control.run(connection);
    return 204;
  } catch {
    return 500;
  }
}
