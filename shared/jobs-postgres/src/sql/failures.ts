import type { Statement } from '../database.js';
import { progressOf } from './job-reports.js';
import { finished } from './job-rows.js';

// Days of failed jobs have indexes of their own (migration 021). Partitions stand in the order of time, so the days after the
// one that fills the page are not looked into.

/** $1 limit. */
export const selectLatestFailed: Statement = {
  name: 'longshore-select-latest-failed',
  text: latestFailed('true'),
};

/** $1 limit, $2 queue. */
export const selectLatestFailedOf: Statement = {
  name: 'longshore-select-latest-failed-of',
  text: latestFailed('queue_id = $2::integer'),
};

function latestFailed(condition: string): string {
  return `
    select listed.*, ${progressOf('listed')}
    from (
      select ${finished} from longshore.job_done_failed where ${condition}
      order by finished_at desc, id desc limit $1::integer
    ) as listed
    order by finished_at desc, id desc`;
}
