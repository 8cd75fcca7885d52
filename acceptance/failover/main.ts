/**
 * `node --import tsx acceptance/failover/main.ts [--kind hosts|dns|pgbouncer] [--runs 5]`: promotes a synchronous standby
 * under load, and prints what that costs. Exits with 1 if a job was lost. See docs/failover.md.
 */
import { parseArgs } from 'node:util';
import { failOver } from './failover.js';
import { routeKinds } from './routes.js';

const { values } = parseArgs({
  options: { kind: { type: 'string' }, runs: { type: 'string', default: '1' } },
});
const kinds = Object.entries(routeKinds).filter(
  ([name]) => values.kind === undefined || values.kind === name,
);
if (kinds.length === 0) throw new Error(`--kind must be one of ${Object.keys(routeKinds).join(', ')}`);

const print = (...cells: readonly unknown[]): void => void process.stdout.write(`| ${cells.join(' | ')} |\n`);
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

print('the primary is found by', 'first answer', 'first job', 'accepted', 'refused', 'lost', 'run twice');
print('---', '---', '---', '---', '---', '---', '---');
let lost = 0;
for (const [, kind] of kinds) {
  for (let run = 0; run < Number(values.runs); run++) {
    const measured = await failOver(kind);
    lost += measured.lost.length;
    print(
      kind.title,
      seconds(measured.answeredMs),
      seconds(measured.ranMs),
      measured.accepted,
      measured.refused,
      [measured.lost.length, ...measured.lost].join(' '),
      [measured.twice.length, ...measured.twice].join(' '),
    );
  }
}
process.exit(lost === 0 ? 0 : 1);
