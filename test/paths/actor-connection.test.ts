// Level 2, the connection: real actors on a simulated clock, against the table that was written by hand.
import { expect, it } from 'vitest';
import { connectionMachine } from '../../machines/connection.machine.ts';
import { leafStates } from '../support/machine-names.ts';
import { CONNECTION_ROWS, CONNECTION_STATES, EVENT_GROUPS } from './connection-table.ts';
import { EVENT_NAMES, SETTINGS, tour } from './connection-tour.ts';

const walked = new Set<(typeof CONNECTION_ROWS)[number]>();

it.each(Object.entries(SETTINGS))('%s: every event in every configuration', async (_name, settings) => {
  for (const row of await tour(settings, connectionMachine)) walked.add(row);
});

it('every row of the table was walked', () => {
  expect(CONNECTION_ROWS.filter((row) => !walked.has(row))).toEqual([]);
});

it('the table has every state of the machine, and every event', () => {
  expect(Object.keys(CONNECTION_STATES).sort()).toEqual(leafStates(connectionMachine).sort());
  expect(Object.values(EVENT_GROUPS).flat().sort()).toEqual([...EVENT_NAMES].sort());
});
