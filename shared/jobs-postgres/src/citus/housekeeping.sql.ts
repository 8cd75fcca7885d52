import { changed, type Form, type Forms, written } from './form.js';

/** Only tables of the coordinator are rewritten. Vacuum, on the nodes, keeps the others small. */
const findChores = changed([
  /from \(values \('job_count'[^)]*\)(?:, \([^)]*\))*\)/,
  `from (values ('scan_gap', 1048576), ('server', 262144))`,
]);

/** Deletes rows of a default partition by the ids of their jobs: the positions of rows mean nothing across nodes. */
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

/** Housekeeping that needs the sizes and the indexes of tables, which are on the nodes. */
export const housekeepingForms: Forms = {
  'longshore-find-chores': findChores,
  'longshore-select-indexed-days': changed(['pg_relation_size(part.oid)', 'citus_relation_size(part.oid)']),
  'longshore-select-ready-pages': changed(['pg_relation_size(', 'citus_relation_size(']),
  ...Object.fromEntries(
    histories.map((history) => [`longshore-delete-strays-${history}`, deleteStrays(history)]),
  ),
  'longshore-summarize-times': written('select longshore.summarize_times($1::text[])::text'),
};
