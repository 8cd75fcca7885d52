import type { JobMeta, JobState } from '@longshore/jobs';
import type { Statement } from '../database.js';

/** A move of a job on which others depend. */
export interface MoveRow {
  queue_id: number;
  job_id: string;
  from_state: JobState;
  to_state: JobState;
  meta: JobMeta;
}

/**
 * A part of a statement that moves jobs: notes those on which others depend.
 *
 * @param source the part that returns the jobs as they were
 * @param from an SQL expression of the state they leave
 * @param to of the state they come to
 */
export function noted(source: string, from: string, to: string): string {
  return `
    noted as (
      insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
      select queue_id, id, ${from}, ${to}, meta from ${source} where meta ?| array['batchId', 'concurrencyKey', 'followed']
    )`;
}

/** $1 limit. Several servers may do it at once: each takes the moves that it got hold of. */
export const takeMoves: Statement = {
  name: 'longshore-take-moves',
  text: `
    delete from longshore.outbox
    where id in (select id from longshore.outbox order by id limit $1 for update skip locked)
    returning queue_id, job_id, from_state, to_state, meta`,
};
