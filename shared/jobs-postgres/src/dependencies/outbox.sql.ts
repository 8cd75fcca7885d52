import type { JobState } from '@longshore/jobs';
import type { JobMeta } from '@longshore/jobs/storage';
import { prepared } from '../connection/statement.js';

/** A state change of a job or batch that affects others: its batch, its dependents, jobs with the same concurrency key. */
export interface OutboxRow {
  /** The row's id in the outbox; missing if the row was restored from an item that had been set aside. */
  id?: string;
  queue_id: number;
  job_id: string;
  from_state: JobState;
  to_state: JobState;
  meta: JobMeta & {
    /** The job had ended and been deleted before its dependency was marked, so its final state is unknown. */
    readonly gone?: true;
  };
}

/**
 * Returns the part of a statement that writes state changes to the outbox, for jobs that have a batch, dependents or a
 * concurrency key.
 *
 * @param source the part that returns the jobs as they were
 * @param from SQL expression of the previous state
 * @param to SQL expression of the new state
 */
export function noted(source: string, from: string, to: string): string {
  return `
    noted as (
      insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
      select queue_id, id, ${from}, ${to}, meta from ${source} where meta ?| array['batchId', 'concurrencyKey', 'followed']
    )`;
}

/** $1 jobs or batches, $2 their final states, $3 whether that is unknown. Writes their ends to the outbox for dependents. */
export const noteEnds = prepared(
  'longshore-note-ends',
  `
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select 0, id, 'processing', to_state, case when gone then '{"followed": true, "gone": true}' else '{"followed": true}' end::jsonb
    from unnest($1::uuid[], $2::longshore.job_state[], $3::boolean[]) as ended (id, to_state, gone)`,
);

/** Checks whether there is anything to resolve; usually there is not. */
export const findWork = prepared(
  'longshore-look-for-work',
  `
    select exists (select from longshore.outbox) as moves,
      exists (select from longshore.job_dependency where not marked) as links,
      exists (
        select from longshore.set_aside where role = 'resolver' and item is not null and retry_at <= now() and discarded_at is null
      ) as aside`,
);

/** $1 limit. Takes rows from the outbox. Several servers can do so at once: each takes rows that it can lock. */
export const takeMoves = prepared(
  'longshore-take-moves',
  `
    delete from longshore.outbox
    where id in (select id from longshore.outbox order by id limit $1 for update skip locked)
    returning id, queue_id, job_id, from_state, to_state, meta`,
);
