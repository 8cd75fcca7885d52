import type { JobState } from '@longshore/jobs';
import type { Statement } from '../database.js';

export interface CountRow {
  queue_id: number;
  state: JobState;
  jobs: string;
}

/** Exact, and as cheap with ten million jobs as with ten: it reads the changes of the last second and one row a queue and state. */
export const selectCounts: Statement = {
  name: 'longshore-select-counts',
  text: `select queue_id, state, sum(jobs) as jobs from longshore.job_count group by queue_id, state`,
};

/** Folds the changes together. Several servers may do it at once: each folds the rows that it got hold of. */
export const foldCounts: Statement = {
  name: 'longshore-fold-counts',
  text: `
    with folded as (
      delete from longshore.job_count
      where ctid = any (array(select ctid from longshore.job_count for update skip locked))
      returning queue_id, state, jobs
    )
    insert into longshore.job_count (queue_id, state, jobs)
    select queue_id, state, sum(jobs) from folded group by queue_id, state having sum(jobs) <> 0`,
};

/** More rows than this and folding pays. */
export const countRows: Statement = {
  name: 'longshore-count-rows',
  text: `select count(*)::integer as rows, count(distinct (queue_id, state))::integer as folded from longshore.job_count`,
};

/** $1 days ahead. */
export const makePartitions: Statement = {
  name: 'longshore-make-partitions',
  text: `select longshore.make_partitions($1)`,
};
