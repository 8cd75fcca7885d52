import type { JobState } from '@longshore/jobs';
import type { JobMeta } from '@longshore/jobs/storage';
import { prepared } from '../connection/statement.js';

/**
 * A state change of a job or batch that affects its batch, its dependents, jobs with the same concurrency key, or jobs that wait
 * for it or are cancelled with it; or a signal.
 */
export interface OutboxRow {
  /** Id in the outbox; missing if a resolver created the row in order to set it aside. */
  id?: string;
  queue_id: number;
  job_id: string;
  from_state: JobState;
  to_state: JobState;
  meta: JobMeta & {
    /** Set if the job or batch was deleted before the dependency on it was marked. The final state is then unknown. */
    readonly gone?: true;
    /** Set if the job has received a signal, which may be what it waits for. */
    readonly signalled?: true;
  };
}

/** SQL condition on a job: the changes of its state affect other jobs, or its batch. */
export const affectsOthers = `meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']`;

/**
 * Returns a CTE that records state changes in the outbox, for jobs for which {@link affectsOthers} is true.
 *
 * @param source name of the CTE that returns the jobs as they were before the change
 * @param from SQL expression for the previous state
 * @param to SQL expression for the new state
 */
export function outboxEntries(source: string, from: string, to: string): string {
  return `
    outbox_entries as (
      insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
      select queue_id, id, ${from}, ${to}, meta from ${source} where ${affectsOthers}
    )`;
}

/**
 * $1 ids of jobs or batches, $2 final states, $3 whether each was deleted. Records in the outbox that these jobs and
 * batches have ended, so that their dependents are released or cancelled.
 */
export const insertEnds = prepared(
  'longshore-insert-ends',
  `
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select 0, id, 'processing', to_state, case when gone then '{"hasDependents": true, "gone": true}' else '{"hasDependents": true}' end::jsonb
    from unnest($1::uuid[], $2::longshore.job_state[], $3::boolean[]) as ended (id, to_state, gone)`,
);

/**
 * Returns which kinds of work the outbox relay has: outbox rows, unmarked dependencies and set-aside items that are
 * due. Usually, there is none.
 */
export const findWork = prepared(
  'longshore-find-work',
  `
    select exists (select 1 from longshore.outbox) as entries,
      exists (select 1 from longshore.job_dependency where not marked) as unmarked,
      exists (
        select 1 from longshore.set_aside where role = 'resolver' and item is not null and retry_at <= now() and discarded_at is null
      ) as aside`,
);

/**
 * $1 limit. Deletes and returns the oldest outbox rows. Several servers can run this at once, because each skips rows
 * that others have locked.
 */
export const takeEntries = prepared(
  'longshore-take-outbox-entries',
  `
    with taken as (
      delete from longshore.outbox
      where id in (select id from longshore.outbox order by id limit $1 for update skip locked)
      returning id, queue_id, job_id, from_state, to_state, meta
    )
    select id, queue_id, job_id, from_state, to_state, meta from taken order by id`,
  'select * from longshore.take_outbox_entries($1)',
);
