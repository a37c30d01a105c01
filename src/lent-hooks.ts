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
  /** The caller has not set handlers of its own since. */
  inPlace(): boolean;
  unhook(): void;
}

const hooked = new WeakMap<SessionShape, Hooks>();

/** Returns what ends the lease. */
export function listenToLent(supplied: SessionShape, listener: LentListener): () => void {
  const present = hooked.get(supplied);
  const hooks = present?.inPlace() ? present : hook(supplied);
  hooked.set(supplied, hooks);
  hooks.listeners.add(listener);
  return () => {
    hooks.listeners.delete(listener);
    if (hooks.listeners.size > 0) return;
    hooks.unhook();
    if (hooked.get(supplied) === hooks) hooked.delete(supplied);
  };
}

function hook(supplied: SessionShape): Hooks {
  const listeners = new Set<LentListener>();
  const { onclose, onerror } = supplied;
  // What the caller's own handlers throw goes on to the SDK, as it would without us.
  const ourOnclose = () => {
    try {
      onclose?.call(supplied);
    } finally {
      for (const listener of [...listeners]) listener.closed();
    }
  };
  const ourOnerror = (error: Error) => {
    try {
      onerror?.call(supplied, error);
    } finally {
      for (const listener of [...listeners]) listener.failed(error);
    }
  };
  const giveBackOnclose = put(supplied, 'onclose', ourOnclose);
  const giveBackOnerror = put(supplied, 'onerror', ourOnerror);
  return {
    listeners,
    inPlace: () => supplied.onclose === ourOnclose && supplied.onerror === ourOnerror,
    unhook() {
      giveBackOnclose();
      giveBackOnerror();
    },
  };
}

/** Handlers of ours that are done with but still stand behind a later one, and what stood there before them. */
const done = new WeakMap<object, unknown>();

function original(handler: unknown): unknown {
  let before = handler;
  while (done.has(before as object)) before = done.get(before as object);
  return before;
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
    done.set(ours, before);
    // The caller has set another since: that one stays.
    if (target[key] !== ours) return;
    const caller = original(before);
    if (!wasOwn) Reflect.deleteProperty(target, key);
    if (target[key] !== caller) Reflect.set(target, key, caller);
  };
}
