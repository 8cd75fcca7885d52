import type { Statement } from '../connection/statement.js';
import { progressOf } from '../read/reports.sql.js';
import { errorGroups, firstFailures } from './error-groups.sql.js';
import { withReports } from './reads.sql.js';

/** A change of a part that searches have in common. */
type Change = readonly [part: RegExp, other: string];

/**
 * Changes of the parts of searches. The queues come from the nodes instead of from an array, so that each node searches those that
 * it has.
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

/** Returns the form for Citus of a statement that is built for a request; the same if it needs no other. */
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
    if (other.includes(`, ${progressOf(alias)}`)) other = withReports(alias)(other);
  return other;
}
