// Level 2, the operation: real actors, against the table that was written by hand.
import { expect, it } from 'vitest';
import { operationMachine } from '../../machines/operation.machine.ts';
import { leafStates } from '../support/machine-names.ts';
import { OPERATION_ROWS, OPERATION_STATES } from './operation-table.ts';
import { operationTour } from './operation-tour.ts';

it('every input is judged, and every event happens in every configuration: every row is walked', () => {
  const walked = operationTour(operationMachine);
  expect(OPERATION_ROWS.filter((row) => !walked.has(row))).toEqual([]);
});

it('the table has every state of the machine, but for the one that is left at once', () => {
  expect([...Object.keys(OPERATION_STATES), 'judging'].sort()).toEqual(leafStates(operationMachine).sort());
});
