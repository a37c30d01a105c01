import type { Ownership } from '../../machines/vocabulary.ts';
import type { FaultTransport } from './fault-reactions.ts';
import { RecoveryRoute } from './recovery-route.ts';
import type { RouteStep } from './route.ts';
import { ROUTES, STEPS } from './routes.generated.ts';

export interface RouteSelection {
  /** Whose connection the routes are about. Default `supervisor`. */
  readonly ownership?: Ownership | undefined;
  /** What the server speaks. Default `http`. */
  readonly transport?: FaultTransport | undefined;
}

const OWNERSHIPS: readonly Ownership[] = ['supervisor', 'caller-client', 'caller-session'];

/** A route as the generated file has it: the steps by their numbers. */
export interface CompactRoute {
  readonly eager?: true;
  readonly lazy?: true;
  readonly given: number;
  readonly steps: readonly number[];
  readonly deletes?: number;
}

/**
 * Every recovery route: each way that a connection can go from one rest (not opened, ready, exhausted, refused) to the
 * next, generated from the machine with `@xstate/graph`; what must be seen of it comes from a table written by hand.
 *
 * @throws {TypeError} for an unknown ownership or transport
 * @example
 * for (const route of recoveryRoutes({ ownership: 'supervisor', transport: 'http' })) {
 *   test(route.name, () => route.run(({ supervisor, own }) => myHost(supervisor, own)));
 * }
 */
export function recoveryRoutes(selection: RouteSelection = {}): RecoveryRoute[] {
  const { ownership = 'supervisor', transport = 'http' } = selection;
  expectOneOf('ownership', OWNERSHIPS, ownership);
  expectOneOf('transport', Object.keys(ROUTES.own), transport);
  const whose = ownership === 'supervisor' ? 'own' : 'lent';
  return ROUTES[whose][transport].map(({ eager, lazy, given, steps, deletes }) => {
    const recreate = eager === true ? 'eager' : 'on-demand';
    const all = steps.map((number) => STEPS[number] as RouteStep);
    const end = deletes === undefined ? {} : { deletes };
    return new RecoveryRoute({ ownership, transport, recreate, lazy: lazy === true, given, steps: all, end });
  });
}

function expectOneOf(option: string, allowed: readonly string[], value: string): void {
  if (!allowed.includes(value)) {
    throw new TypeError(`recoveryRoutes: ${option}: expected one of ${allowed.join(', ')}`);
  }
}
