import { InvalidOptionsError } from '../errors.ts';

const MAX_PORT = 65_535;

export function checkPort(port: unknown): void {
  if (Number.isInteger(port) && (port as number) >= 0 && (port as number) <= MAX_PORT) return;
  throw new InvalidOptionsError('', 'port', `expected a port of 0 (any that is free) to ${MAX_PORT}`);
}
