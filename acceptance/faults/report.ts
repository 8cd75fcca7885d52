import { seconds } from './process-faults.js';
import type { Occurrence } from './storm.js';
import type { Check, Tally } from './verdict.js';

export interface Findings {
  /** Number of accepted jobs. */
  readonly accepted: number;
  readonly tally: Tally;
  readonly occurrences: readonly Occurrence[];
  readonly checks: readonly Check[];
  /** Descriptions of the failures, printed if a check has failed. */
  readonly details: readonly string[];
}

/** Prints the report with a summary like mocha's. Returns whether all checks passed. */
export function report({ accepted, tally, occurrences, checks, details }: Findings): boolean {
  console.log(
    `\n${occurrences.length} faults. Recovery, from the fault until all jobs of that moment and a new one were done`,
  );
  for (const [fault, times] of byFault(occurrences)) {
    const middle = times[Math.floor(times.length / 2)] ?? NaN;
    const longest = times.at(-1) ?? NaN;
    console.log(
      `  ${fault.padEnd(20)} ${times.length} times, median ${seconds(middle)}, at most ${seconds(longest)}`,
    );
  }
  const { done, cancelled, acknowledged, retried, repeated, lost, doubled } = tally;
  console.log(
    `\n${accepted} jobs accepted, ${done} done, ${cancelled} cancelled; ${repeated} took more than one attempt`,
  );
  console.log(
    `${acknowledged} cancellations were acknowledged; failed jobs were retried ${retried} times by operators`,
  );
  console.log(
    `${lost} attempts were reclaimed from servers; ${doubled} plain jobs had more than one effect\n`,
  );
  for (const { property, breaches, samples = '' } of checks) {
    console.log(`  ${breaches === 0 ? '✔' : '✘'} ${property}: ${breaches}`);
    if (breaches !== 0 && samples !== '') console.log(`    ${samples}`);
  }
  const failing = checks.filter(({ breaches }) => breaches !== 0).length;
  if (failing > 0) console.log(`\n${details.join('\n\n')}`);
  console.log(`\n  ${checks.length - failing} passing`);
  if (failing > 0) console.log(`  ${failing} failing`);
  return failing === 0;
}

function byFault(occurrences: readonly Occurrence[]): Map<string, number[]> {
  const times = new Map<string, number[]>();
  for (const { fault, recoveredMs } of occurrences) {
    times.set(
      fault,
      [...(times.get(fault) ?? []), recoveredMs].toSorted((left, right) => left - right),
    );
  }
  return times;
}
