/** A description of a kind of violation, and a query on the schema `longshore` that returns one row for each violation. */
export type Invariant = readonly [violation: string, sql: string];

/** A query that returns all unfinished jobs, each with its state. Leaves out planner padding rows. */
export const unfinishedJobs = [
  ['job', `case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state`],
  ['job_blocked', `'enqueued'::longshore.job_state`],
  ['job_scheduled', `'scheduled'::longshore.job_state`],
  ['job_awaiting', `'awaiting'::longshore.job_state`],
]
  .map(
    ([table, state]) =>
      `select id, queue_id, ${state} as state, created_at, meta from longshore.${table} where queue_id > 0`,
  )
  .join(' union all ');

/** A query that returns all jobs, each with its state. */
export const allJobs = `${unfinishedJobs} union all select id, queue_id, state, created_at, meta from longshore.job_history`;

/** A query that returns the ids and final states of all jobs and batches that have ended. */
const ended = `
  select id, state from longshore.job_history
  union all select id, case when failed > 0 then 'failed' when cancelled > 0 then 'cancelled' else 'done' end::longshore.job_state
  from longshore.batch where finished_at is not null`;

/**
 * What must hold in the tables of a store at rest: whatever its jobs have been through, once nobody uses it and its
 * background work has nothing left to do. Jobs may be unfinished.
 */
export const storeInvariants: readonly Invariant[] = [
  ['jobs in two places', `select id from (${allJobs}) as job group by id having count(*) > 1`],
  [
    'counters that differ from the rows they count',
    `select * from (select queue_id, state, count(*) as jobs from (${allJobs}) as job group by queue_id, state) as rows
     full join (
       select queue_id, state, sum(jobs) as jobs from longshore.job_count group by queue_id, state having sum(jobs) <> 0
     ) as counters using (queue_id, state)
     where rows.jobs is distinct from counters.jobs`,
  ],
  ['entries that stay in the outbox', 'select * from longshore.outbox'],
  ['what background work could not deal with', 'select * from longshore.set_aside'],
  ['dependencies that are not marked', 'select * from longshore.job_dependency where not marked'],
  [
    'dependencies that wait for a parent that has ended or does not exist',
    `select dependency.* from longshore.job_dependency as dependency
     where resolved_at is null and (
       parent_id in (select id from (${ended}) as ended)
       or parent_id not in (select id from (${allJobs}) as job union all select id from longshore.batch))`,
  ],
  [
    'unresolved dependencies of jobs that do not wait',
    `select dependency.* from longshore.job_dependency as dependency
     where resolved_at is null and child_id not in (select id from longshore.job_awaiting)`,
  ],
  [
    'jobs that wait for nothing',
    `select id from longshore.job_awaiting where queue_id > 0
       and id not in (select child_id from longshore.job_dependency where resolved_at is null)`,
  ],
  [
    'batches that have ended and are open, or are open and have ended',
    `select * from longshore.batch where (finished_at is null) <> (done + failed + cancelled < total)`,
  ],
  [
    // Jobs of a batch can be deleted when they have ended. They stay in the counts.
    'batches that count other jobs than theirs',
    `select * from longshore.batch join (
       select (meta ->> 'batchId')::uuid as id, count(*) as members,
         count(*) filter (where state = 'done') as are_done, count(*) filter (where state = 'failed') as are_failed,
         count(*) filter (where state = 'cancelled') as are_cancelled,
         count(*) filter (where state not in ('done', 'failed', 'cancelled')) as are_open
       from (${allJobs}) as job where meta ? 'batchId' group by 1
     ) as member using (id)
     where done < are_done or failed < are_failed or cancelled < are_cancelled or total - done - failed - cancelled <> are_open
       or members > total`,
  ],
  [
    'cancellation requests for jobs that do not run',
    `select * from longshore.job_cancellation
     where (queue_id, job_id) not in (select queue_id, id from longshore.job where server_id is not null)`,
  ],
  [
    'dependencies and moves that name another queue than that of their job',
    `select job.id, job.queue_id, named.queue_id as named from (${allJobs}) as job join (
       select child_id as id, queue_id from longshore.job_dependency union all select job_id, queue_id from longshore.moved_job
     ) as named on named.id = job.id
     where named.queue_id <> job.queue_id`,
  ],
  [
    // Those of jobs that have been dropped stay until housekeeping deletes them.
    'steps and signals in another queue than that of their job',
    `select job.id, job.queue_id, stored.queue_id as named from (${allJobs}) as job join (
       select queue_id, job_id from longshore.job_step union all select queue_id, job_id from longshore.job_signal
     ) as stored on stored.job_id = job.id
     where stored.queue_id <> job.queue_id`,
  ],
  [
    'suspended jobs that have what they wait for and are not due',
    `select job.id from longshore.job_scheduled as job, jsonb_each_text(job.meta -> 'awaits') as awaited (name, needed)
     where job.queue_id > 0 and job.run_at > now() and jsonb_typeof(job.meta -> 'awaits') = 'object'
       and needed::integer <= (
         select count(*) from longshore.job_signal as signal
         where signal.queue_id = job.queue_id and signal.job_id = job.id and signal.name = awaited.name)`,
  ],
  [
    'blocked jobs whose concurrency key has room',
    // The limit of the first blocked job applies.
    `select * from (
       select distinct on (queue_id, meta ->> 'concurrencyKey') queue_id, id, meta from longshore.job_blocked
       where queue_id > 0 order by queue_id, meta ->> 'concurrencyKey', priority, seq
     ) as blocked
     where (meta ->> 'concurrencyLimit')::integer > (
       select count(*) from longshore.job
       where job.queue_id = blocked.queue_id and job.meta ->> 'concurrencyKey' = blocked.meta ->> 'concurrencyKey')`,
  ],
  [
    'unique keys held by a job that does not exist',
    `select key from longshore.job_key where job_id not in (select id from (${allJobs}) as job)`,
  ],
];

/**
 * Returns one line for each violation of {@link storeInvariants}, with the row that shows it.
 *
 * @param query runs a query and returns its rows
 * @param schema the schema of the store
 */
export async function storeViolations(
  query: (sql: string) => Promise<readonly object[]>,
  schema = 'longshore',
): Promise<string[]> {
  const all = storeInvariants.map(
    ([violation, sql]) => `select '${violation}' as violation, to_jsonb(found) as row from (${sql}) as found`,
  );
  const rows = await query(all.join(' union all ').replaceAll(/\blongshore\./g, `"${schema}".`));
  return rows.map((row) => JSON.stringify(row));
}
