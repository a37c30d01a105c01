/**
 * Loses connections to real servers for as long as it is told, and compares what callers were told with what the
 * servers wrote down: `npm run soak -- --seconds 60 --seed 7`, or `--calls 100000`; `--json`; `--subject naive` runs
 * it on a wrapper that sends again whatever failed. Exit codes: 0 no violation, 1 a violation, 2 wrong usage.
 */
import { parseArgs } from 'node:util';

process.env.NODE_ENV = 'production';
// Or its servers would outlive it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const { seconds, calls, seed, subject, json } = options();
// Only now, so that whatever looks at NODE_ENV while it loads sees it.
const { soak } = await import('./run.ts');
const { text } = await import('./report.ts');

process.stderr.write(`Seed ${seed}\n`);
const report = await soak({
  subject,
  seed,
  seconds: seconds ?? (calls === undefined ? 60 : undefined),
  calls,
  progress: (line) => process.stderr.write(`${line}\n`),
});
console.log(json ? JSON.stringify(report) : text(report));
process.exit(report.shown.length === 0 ? 0 : 1);

function options() {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string' },
      calls: { type: 'string' },
      seed: { type: 'string' },
      subject: { type: 'string', default: 'steward' },
      json: { type: 'boolean', default: false },
    },
  });
  const { subject, json } = values;
  if (subject !== 'steward' && subject !== 'naive') usage('--subject is steward or naive');
  return {
    seconds: positive('seconds', values.seconds),
    calls: positive('calls', values.calls),
    seed: positive('seed', values.seed) ?? Math.floor(Math.random() * 1_000_000) + 1,
    subject,
    json,
  } as const;
}

function positive(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!(number > 0)) usage(`--${name} is a number above 0`);
  return number;
}

function usage(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
