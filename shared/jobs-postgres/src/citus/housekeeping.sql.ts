import { withReplacements, type Form, type Forms, replacedBy } from './form.js';

/** Searches only the coordinator for tables to rewrite. On the nodes, vacuum keeps the tables small. */
const findChores = withReplacements([
  /from \(values \('job_count'[^)]*\)(?:, \([^)]*\))*\)/,
  `from (values ('scan_gap', 1048576), ('server', 262144))`,
]);

/**
 * Returns the Citus form that deletes rows from a default partition. The form finds the rows by job id, because `ctid`
 * is not unique across nodes.
 *
 * @param history the partitioned table
 */
function deleteStrays(history: string): Form {
  const id = history === 'job_report' ? 'job_id' : 'id';
  return (usual) => {
    const other = usual.replace(
      /where ctid = any \(array\(\s+select ctid from/,
      `where ${id} = any (array(select ${id} from`,
    );
    if (other === usual) throw new Error('A form for Citus expects rows to be deleted by their positions');
    return other;
  };
}

const histories = ['job_history_done', 'job_history_failed', 'job_history_cancelled', 'job_report'];

export const housekeepingForms: Forms = {
  'longshore-find-chores': findChores,
  'longshore-select-indexed-days': withReplacements([
    'pg_relation_size(part.oid)',
    'citus_relation_size(part.oid)',
  ]),
  'longshore-select-ready-pages': withReplacements(['pg_relation_size(', 'citus_relation_size(']),
  ...Object.fromEntries(
    histories.map((history) => [`longshore-delete-strays-${history}`, deleteStrays(history)]),
  ),
  'longshore-summarize-times': replacedBy('select longshore.summarize_times($1::text[])::text'),
};
