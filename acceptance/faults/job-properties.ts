import { allJobs, unfinishedJobs } from '@longshore/test-support';

/**
 * A description of a kind of violation, and a query that returns all violations of this kind. The query can use three
 * CTEs: `accepted` with all accepted jobs, and `promised` with all accepted batches. Both have the columns `id`, and
 * `from` and `until`, the times at which the request began and ended. `to_cancel` has the ids of all jobs and
 * batches that an operator has tried to cancel.
 */
export type Property = readonly [property: string, sql: string];

/**
 * How far a time that a process has estimated may be from the database's time, because it may have read the database's
 * clock a minute ago. On a slow machine, such a time can also be much earlier than the time at which Postgres stored it.
 * It is therefore compared with the times before and after the moment that it describes.
 */
export const clockTolerance = `interval '1 minute'`;

/** Expression for the time in an id. */
const timeIn = (id: string): string =>
  `to_timestamp(('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`;

/**
 * Query that counts each job's effects in the ledger. A plain or restless job can have several effects, because its
 * handler writes to the ledger outside the transaction that completes the job.
 */
export const effects = `
  select job_id, name, count(*) as times, min(attempt) as attempt, min(at) as at, max(together) as together, max(allowed) as allowed
  from ledger.effect group by job_id, name`;

/** Violations to look for in the jobs at the end of a run. */
export const jobProperties: readonly Property[] = [
  [
    'jobs lost: accepted, and nowhere in the store',
    `select id from accepted where id not in (select id from (${allJobs}) as job)`,
  ],
  ['jobs not finished', `select id from (${unfinishedJobs}) as job`],
  [
    'jobs finished, but not done, and not cancelled by an operator either',
    `select id, name, state, error ->> 'message' as error from longshore.job_history
     where state <> 'done' and (state <> 'cancelled'
       or id not in (select id from to_cancel) and coalesce((meta ->> 'batchId')::uuid, id) not in (select id from to_cancel))`,
  ],
  [
    'jobs that neither were cancelled nor done although their cancellation was acknowledged',
    `select job_id from ledger.cancellation
     where job_id not in (select id from longshore.job_history where state in ('cancelled', 'done'))`,
  ],
  [
    'attempts that started after the cancellation of their job was acknowledged',
    `select job_id from ledger.cancellation join (
       select id, started_at from longshore.job_history
       union all select id, (past ->> 'startedAt')::timestamptz
       from longshore.job_history, jsonb_array_elements(past_attempts) as past
     ) as started on started.id = job_id
     where started_at > acknowledged_at`,
  ],
  [
    'jobs in two places: finished twice, or finished and yet to do',
    `select id from (${allJobs}) as job group by id having count(*) > 1`,
  ],
  [
    'jobs done without an effect',
    `select id from longshore.job_history where state = 'done' and id not in (select job_id from ledger.effect)`,
  ],
  [
    'transactional jobs with two effects',
    `select job_id from (${effects}) as effect where name not in ('plain', 'restless') and times > 1`,
  ],
  [
    'transactional effects of another attempt than the one on record, or of none',
    `select effect.job_id from (${effects}) as effect left join longshore.job_history on job_history.id = effect.job_id
     where effect.name not in ('plain', 'restless') and job_history.attempt is distinct from effect.attempt`,
  ],
  [
    'transactional jobs that ran before their time',
    `select effect.job_id from (${effects}) as effect join longshore.job_history on job_history.id = effect.job_id
     where effect.name not in ('plain', 'restless') and effect.at < job_history.run_at`,
  ],
  [
    'transactional steps with two effects',
    `select job_id, step from ledger.step_effect where transactional group by job_id, step having count(*) > 1`,
  ],
  [
    'steps of jobs that are done without an effect, or without a result',
    `select job.id, step.name from longshore.job_history as job,
       (values ('first'), ('beside'), ('also beside'), ('last')) as step (name)
     where job.name = 'stepped' and job.state = 'done' and not (
       exists (select 1 from ledger.step_effect where job_id = job.id and step_effect.step = step.name)
       and exists (
         select 1 from longshore.job_step
         where job_step.job_id = job.id and job_step.name = step.name and job_step.state = 'done'))`,
  ],
  [
    'steps that ran again after their result was stored',
    `select effect.job_id, effect.step from ledger.step_effect as effect
     join longshore.job_step as step on step.job_id = effect.job_id and step.name = effect.step
     where effect.at > step.finished_at + ${clockTolerance}`,
  ],
  [
    'signals that were acknowledged and did not arrive, or came in time and were not received',
    `select signal.job_id from ledger.signal
     left join longshore.job_signal as stored on stored.job_id = signal.job_id and stored.name = 'go'
     left join longshore.job_step as step on step.job_id = signal.job_id and step.name = 'go'
     where stored.job_id is null or step.state is distinct from 'done' and stored.at < step.until - interval '30 seconds'`,
  ],
  [
    "enqueuers' own rows without the job of their transaction",
    `select job_id from ledger.request where job_id not in (select id from (${allJobs}) as job)`,
  ],
  [
    'jobs that ran together with more of their key or queue than it allows',
    `select * from (${effects}) as effect where together > allowed`,
  ],
  [
    'jobs of which there are several with one idempotency key',
    `select from (${allJobs}) as job where meta ? 'idempotencyKey' group by meta ->> 'idempotencyKey' having count(*) > 1`,
  ],
  [
    'continuations that ran before their parent had ended',
    `select effect.job_id
     from (${effects}) as effect
     join longshore.job_dependency on child_id = effect.job_id
     join longshore.job_history as parent on parent.id = parent_id
     where effect.at < parent.finished_at`,
  ],
  [
    'callbacks of batches that ran before a job of the batch had ended',
    `select effect.job_id
     from longshore.batch join (${effects}) as effect on effect.job_id = callback_id
     join longshore.job_history as member on member.meta ->> 'batchId' = batch.id::text
     where effect.at < member.finished_at`,
  ],
  [
    'due times of the recurring job without a job, or with several',
    `with tick as (
       select ((floor(extract(epoch from last_due_at)) - 2 * floor(extract(epoch from created_at) / 2)) / 2)::bigint as due
       from longshore.recurring_job where id = 'tick'
     )
     select generate_series(1, abs(due - (
       select count(*) from longshore.job_history where meta ->> 'recurringJobId' = 'tick'
     ))) from tick`,
  ],
  [
    'accepted jobs and batches whose id tells a time outside of their request',
    // A request with a unique key may have got an earlier job.
    `select request.* from (select * from accepted union all select * from promised) as request
     left join longshore.job_history as job on job.id = request.id
     where ${timeIn('request.id')} > until + ${clockTolerance}
       or ${timeIn('request.id')} < "from" - ${clockTolerance} and job.name is distinct from 'unique'`,
  ],
  [
    'jobs whose id tells a time after their first effect, or before the run',
    `select id from longshore.job_history left join (${effects}) as effect on job_id = id
     where ${timeIn('id')} > least(effect.at, finished_at) + ${clockTolerance}
       or ${timeIn('id')} < (select min(created_at) from longshore.recurring_job) - ${clockTolerance}`,
  ],
];
