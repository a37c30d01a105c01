/**
 * Listens on `onclose` and `onerror` of an object that belongs to the caller, and gives both back as they were. An
 * object may be lent several times over; it is hooked once, and given back with its last lease.
 */
import type { SessionShape } from './transports/client-shape.ts';

export interface LentListener {
  closed(): void;
  failed(error: Error): void;
}

interface Hooks {
  readonly listeners: Set<LentListener>;
  unhook(): void;
}

const hooked = new WeakMap<SessionShape, Hooks>();

/** Returns what ends the lease. */
export function listenToLent(supplied: SessionShape, listener: LentListener): () => void {
  const hooks = hooked.get(supplied) ?? hook(supplied);
  hooked.set(supplied, hooks);
  hooks.listeners.add(listener);
  return () => {
    hooks.listeners.delete(listener);
    if (hooks.listeners.size > 0 || hooked.get(supplied) !== hooks) return;
    hooks.unhook();
    hooked.delete(supplied);
  };
}

function hook(supplied: SessionShape): Hooks {
  const listeners = new Set<LentListener>();
  const { onclose, onerror } = supplied;
  const giveBackOnclose = put(supplied, 'onclose', () => {
    // What the caller's own handler throws goes on to the SDK, as it would without us.
    try {
      onclose?.call(supplied);
    } finally {
      for (const listener of [...listeners]) listener.closed();
    }
  });
  const giveBackOnerror = put(supplied, 'onerror', (error: Error) => {
    try {
      onerror?.call(supplied, error);
    } finally {
      for (const listener of [...listeners]) listener.failed(error);
    }
  });
  return {
    listeners,
    unhook() {
      giveBackOnclose();
      giveBackOnerror();
    },
  };
}

/** A frozen object cannot be hooked; its loss then shows with the next operation. */
function put<Key extends 'onclose' | 'onerror'>(
  target: SessionShape,
  key: Key,
  ours: NonNullable<SessionShape[Key]>,
): () => void {
  const before = target[key];
  const wasOwn = Object.hasOwn(target, key);
  Reflect.set(target, key, ours);
  return () => {
    // The caller has set another since: that one stays.
    if (target[key] !== ours) return;
    if (!wasOwn) Reflect.deleteProperty(target, key);
    if (target[key] !== before) Reflect.set(target, key, before);
  };
}
