import type { NewJob } from '@longshore/jobs';
import { arrayOf } from '../array-literal.js';
import type { Statement } from '../database.js';

/** Ready at once. One round trip, one queue, any number of jobs. */
export const insertReady: Statement = {
  name: 'longshore-insert-ready',
  text: `
    with counted as (
      insert into longshore.job_count (queue_id, state, jobs) values ($1, 'enqueued', cardinality($2::uuid[]))
    )
    insert into longshore.job (queue_id, id, name, priority, max_attempts, args)
    select $1, id, name, priority, max_attempts, args
    from unnest($2::uuid[], $3::text[], $4::smallint[], $5::smallint[], $6::jsonb[])
      as new (id, name, priority, max_attempts, args)`,
};

/** The same for jobs some of which carry more than a plain job does: $7. */
export const insertReadyWithMeta: Statement = {
  name: 'longshore-insert-ready-with-meta',
  text: `
    with counted as (
      insert into longshore.job_count (queue_id, state, jobs) values ($1, 'enqueued', cardinality($2::uuid[]))
    )
    insert into longshore.job (queue_id, id, name, priority, max_attempts, args, meta)
    select $1, id, name, priority, max_attempts, args, meta
    from unnest($2::uuid[], $3::text[], $4::smallint[], $5::smallint[], $6::jsonb[], $7::jsonb[])
      as new (id, name, priority, max_attempts, args, meta)`,
};

/** Waits for a time, or for a number of milliseconds by the database's clock. */
export const insertWaiting: Statement = {
  name: 'longshore-insert-waiting',
  text: `
    with counted as (
      insert into longshore.job_count (queue_id, state, jobs) values ($1, 'scheduled', cardinality($2::uuid[]))
    )
    insert into longshore.job_waiting (queue_id, id, name, priority, max_attempts, args, meta, run_at)
    select $1, id, name, priority, max_attempts, args, meta, coalesce(due_at, now() + due_in * interval '1 millisecond')
    from unnest($2::uuid[], $3::text[], $4::smallint[], $5::smallint[], $6::jsonb[], $7::jsonb[], $8::timestamptz[], $9::float8[])
      as new (id, name, priority, max_attempts, args, meta, due_at, due_in)`,
};

export function readyValues(queueId: number, jobs: readonly NewJob[]): unknown[] {
  return [
    queueId,
    arrayOf(jobs.map(({ id }) => id)),
    jobs.map(({ name }) => name),
    arrayOf(jobs.map(({ priority }) => priority)),
    arrayOf(jobs.map(({ maxAttempts }) => maxAttempts)),
    jobs.map(({ args }) => args),
  ];
}

export function readyValuesWithMeta(queueId: number, jobs: readonly NewJob[]): unknown[] {
  return [...readyValues(queueId, jobs), jobs.map(({ meta }) => meta ?? null)];
}

export function waitingValues(queueId: number, jobs: readonly NewJob[]): unknown[] {
  return [
    ...readyValuesWithMeta(queueId, jobs),
    jobs.map(({ due }) => (due !== null && 'at' in due ? due.at.toISOString() : null)),
    jobs.map(({ due }) => (due !== null && 'inMs' in due ? due.inMs : null)),
  ];
}
