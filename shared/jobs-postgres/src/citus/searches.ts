import type { Statement } from '../connection/statement.js';
import { reportedOf } from '../jobs/reports.sql.js';
import { errorGroups, firstFailures } from './error-groups.sql.js';
import { withReports } from './reads.sql.js';

/** A pattern in searches, and its replacement, in which `$1` stands for the captured list of queues. */
type Change = readonly [part: RegExp, other: string];

/**
 * The replacements read the queues from a distributed table instead of an array, so that each node searches the queues
 * stored there.
 */
const changes: readonly Change[] = [
  [
    /from unnest\((\$\d+::integer\[\]|array\(select queue_id from front group by queue_id\))\) as queue \(id\)/g,
    'from (select queue_id as id from longshore.queue_node where queue_id = any($1)) as queue',
  ],
];

const fragments = ['listed', 'shown'] as const;

const generated: readonly (readonly [name: RegExp, form: (usual: string) => string])[] = [
  [/^longshore-select-error-groups-/, errorGroups],
  [/^longshore-record-first-failures-/, firstFailures],
];

/** Fragments that Citus cannot run: queues from an array, and a limit that a subquery computes for each queue. */
const unsupported = /\) as queue \(id\)|limit \(select .* where queue_id = queue\.id/;

/**
 * Returns the Citus form of a statement that was built for a single request. Returns the text unchanged if there is
 * nothing to replace.
 *
 * @throws {Error} if the statement contains a fragment that Citus cannot run and that no replacement matches
 */
export function searchForm({ name, text }: Statement): string {
  for (const [pattern, form] of generated) if (name !== undefined && pattern.test(name)) return form(text);
  if (!text.includes('longshore.')) return text;
  let other = text;
  for (const [part, replacement] of changes)
    other = other.replaceAll(part, (_, queues: string) => replacement.replace('$1', () => queues));
  other = other.replaceAll(
    /\n\s+order by priority, seq\s+limit \(select coalesce\(sum\(jobs\), 0\) from longshore\.job_count where queue_id = queue\.id and state = 'processing'\)/g,
    '',
  );
  for (const alias of fragments)
    if (other.includes(`, ${reportedOf(alias)}`)) other = withReports(alias)(other);
  const [rest] = unsupported.exec(other) ?? [];
  if (rest !== undefined) throw new Error(`A search has no form for Citus: "${rest}" was not replaced`);
  return other;
}
