// Which of the reported failures has its test where. A row is covered by a test that is named after it ("case 4: …",
// "cases 31 and 32: …") in this folder, or it is in the table below, with the place or the reason.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const FOLDER = new URL('.', import.meta.url);

/** Every row of the collection of reports. */
const ROWS = [
  1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 22, 23, 24, 26, 27, 28, 29, 30, 31, 32,
  33, 35, 36, 37, 38, 40, 41, 43, 44, 46, 47, 49, 50, 51, 53, 55, 56, 57, 58, 59, 60, 62, 63, 64, 66, 68, 69,
  70, 71, 73, 76, 77, 79, 81, 82, 83, 84, 85, 87, 88, 91, 92, 93, 94, 95, 96, 97, 98, 99, 101, 102, 103, 104,
  105, 107, 108,
];

const ELSEWHERE: Record<number, string> = {
  11: 'later: resuming a session over a restart of the host',
  12: 'later: resuming a session over a restart of the host',
  66: 'later: the pool',
  69: 'test/ownership: every operation of every caller-owned connection',
  70: 'later: the pool (leases of one shared connection)',
  71: 'later: the pool (derived handles)',
  85: 'later: the catalog',
  87: 'later: the catalog',
  88: 'later: the catalog',
  92: 'later: the catalog',
  93: 'later: restore of subscriptions',
  94: 'later: restore of subscriptions (revision 2026-07-28)',
  96: 'later: the pool (idle stop)',
  101: 'later: the pool (identity)',
  103: 'later: tasks',
  108: 'later: the pool (identity)',
};

function rowsNamedInTests(): number[] {
  const files = readdirSync(FOLDER).filter(
    (name) => name.endsWith('.test.ts') && name !== 'coverage.test.ts',
  );
  const text = files.map((name) => readFileSync(new URL(name, FOLDER), 'utf8')).join('\n');
  const titles = text.matchAll(/['"`]cases? ([\d, and]+):/g);
  return [...titles].flatMap(([, numbers = '']) => (numbers.match(/\d+/g) ?? []).map(Number));
}

it('every reported failure has a test here, or a place or a reason in the table', () => {
  const named = new Set(rowsNamedInTests());
  const covered = [...named, ...Object.keys(ELSEWHERE).map(Number)].sort((a, b) => a - b);
  expect(covered).toEqual(ROWS);
});
