/** Runs a hook of the host's. One that throws harms nobody. */
export function quietly(hook: () => void): void {
  try {
    hook();
  } catch {}
}
