// Level 2, the connection: real actors on a simulated clock, against the table that was written by hand.
import { describe, expect, it } from 'vitest';
import { connectionMachine } from '../../machines/connection.machine.ts';
import { leafStates } from '../support/machine-names.ts';
import { EVENT_GROUPS } from './connection-events.ts';
import { ROUTE_BUDGET, recoveryRoutes } from './connection-routes.ts';
import { CONNECTION_ROWS, CONNECTION_STATES } from './connection-table.ts';
import { EVENT_NAMES, SETTINGS, tour, Walk } from './connection-tour.ts';

const walked = new Set<(typeof CONNECTION_ROWS)[number]>();

it.each(Object.entries(SETTINGS))(
  '%s: every event in every configuration',
  async (_name, settings) => {
    for (const row of await tour(settings, connectionMachine)) walked.add(row);
  },
  90_000,
);

it('every row of the table was walked', () => {
  expect(CONNECTION_ROWS.filter((row) => !walked.has(row))).toEqual([]);
});

describe('every recovery route', () => {
  it.each([
    ['supervisor', 'http'],
    ['supervisor', 'stdio'],
    ['caller-client', 'http'],
    ['caller-session', 'stdio'],
  ] as const)('%s, over %s', async (ownership, transport) => {
    const routes = recoveryRoutes(ownership, transport);
    expect(routes.length).toBeGreaterThanOrEqual(10);
    for (const { recreate, lazy, given, steps } of routes) {
      const spawns = transport === 'stdio';
      const walk = new Walk({ ...ROUTE_BUDGET, ownership, recreate, lazy, spawns }, connectionMachine);
      for (const { event, to } of [...given, ...steps]) {
        await walk.take(event);
        expect(walk.driver.state).toBe(to);
      }
    }
  });
});

it('the table has every state of the machine, and every event', () => {
  expect(Object.keys(CONNECTION_STATES).sort()).toEqual(leafStates(connectionMachine).sort());
  expect(Object.values(EVENT_GROUPS).flat().sort()).toEqual([...EVENT_NAMES].sort());
});
