import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Writes on until that is refused: the other end has let go of the socket, and does not only leave it half open. */
export async function letGo(socket: Socket): Promise<void> {
  const refused = new Promise((resolve) => socket.once('error', resolve));
  const writing = setInterval(() => socket.write('.'), 20);
  onTestFinished(() => clearInterval(writing));
  await refused;
}
