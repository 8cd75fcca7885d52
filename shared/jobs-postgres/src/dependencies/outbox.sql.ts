import type { JobMeta, JobState } from '@longshore/jobs';
import { prepared } from '../connection/statement.js';

/** A move of a job on which others depend. */
export interface OutboxRow {
  /** Its number in the outbox; left out where it was put together from what was set aside. */
  id?: string;
  queue_id: number;
  job_id: string;
  from_state: JobState;
  to_state: JobState;
  meta: JobMeta & {
    /** It had ended and been deleted before anybody looked: how it ended is not known. */
    readonly gone?: true;
  };
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

/** $1 jobs or batches, $2 the states they ended in, $3 whether that is not known. Notes an end for those that wait for it. */
export const noteEnds = prepared(
  'longshore-note-ends',
  `
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select 0, id, 'processing', to_state, case when gone then '{"followed": true, "gone": true}' else '{"followed": true}' end::jsonb
    from unnest($1::uuid[], $2::longshore.job_state[], $3::boolean[]) as ended (id, to_state, gone)`,
);

/** What there is to settle; mostly nothing. */
export const lookForWork = prepared(
  'longshore-look-for-work',
  `
    select exists (select from longshore.outbox) as moves,
      exists (select from longshore.job_link where not marked) as links,
      exists (
        select from longshore.set_aside where role = 'resolver' and item is not null and retry_at <= now() and discarded_at is null
      ) as aside`,
);

/** $1 limit. Several servers may do it at once: each takes the moves that it got hold of. */
export const takeMoves = prepared(
  'longshore-take-moves',
  `
    delete from longshore.outbox
    where id in (select id from longshore.outbox order by id limit $1 for update skip locked)
    returning id, queue_id, job_id, from_state, to_state, meta`,
);
