import type { NewJob } from '@longshore/jobs/storage';
import { jobNumbers, numberOf, outboxNumbers, seqOf } from './drawn-numbers.sql.js';
import { arrayOf } from '../connection/array-literal.js';
import { dueFrom, fromNow } from '../connection/database.sql.js';
import { gapCte, type Visibility } from './ready-scans.sql.js';
import { prepared, type Statement } from '../connection/statement.js';
import { becomeReady } from './become-ready.sql.js';

/** The single row that an insert of jobs returns. All jobs of the insert have the same creation time. */
export interface CreatedRow {
  readonly created_at?: Date;
}

/**
 * Returns the last part of a statement that inserts jobs. It adds the jobs to the count of their state, and returns one
 * row with their creation time.
 */
export const counted = (state: 'enqueued' | 'scheduled' | 'awaiting'): string => `
    insert into longshore.job_count (queue_id, state, jobs) values ($1, '${state}', cardinality($2::uuid[]))
    returning now() as created_at`;

type Inserters = Readonly<Record<Visibility, Statement>>;

/** @param citus the form for Citus, which records no gaps, because scans start at the head there */
function inserters(name: string, text: (visibility: Visibility) => string, citus: string): Inserters {
  return { soon: prepared(name, text('soon'), citus), late: prepared(`${name}-late`, text('late'), citus) };
}

const inserted = (insert: string, visibility: Visibility): string =>
  visibility === 'soon'
    ? `with inserted as (${insert})`
    : `with inserted as (${insert} returning queue_id, priority, seq), ${gapCte('inserted')}`;

// On Citus, each insert runs on the queue's node, with separate tasks for the jobs and the counters.

/** SQL for the columns of new jobs: $2 ids, $3 arguments, $4 names, $5 priorities, $6 maximum attempts, $7 metadata. */
export const newJobs = `unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($4::text[]), unnest($5::smallint[]),
        unnest($6::smallint[]), unnest($7::jsonb[])`;

/** A CTE that ensures that the queue has a row in `queue_node`. {@link onNode} selects from this row. */
export const nodeKnown = `
    node as (insert into longshore.queue_node (queue_id) values ($1) on conflict do nothing)`;

const numbered = jobNumbers('unnest($2::uuid[])');

/**
 * Returns the FROM items and the WHERE clause of an `insert … select`. They include a table on the queue's node, so
 * that Citus runs the whole insert there. Otherwise, Citus would select the rows on the coordinator, copy them to the
 * node and use two-phase commit.
 *
 * @param functions SQL function calls that return the rows to insert
 * @param columns names for the columns of these rows
 */
export const onNode = (functions: string, columns: string): string => `longshore.queue_node
      cross join rows from (${functions}) with ordinality as new (${columns}, place)
      where queue_node.queue_id = $1`;

export const countedOnNode = (state: string): string => `
    counted as (insert into longshore.job_count (queue_id, state, jobs) values ($1, '${state}', cardinality($2::uuid[])))
    select now() as created_at`;

export const columns = 'id, args, name, priority, max_attempts, meta';
export const selected = 'new.id, new.name, new.priority, new.max_attempts, new.args, new.meta';

const insertedOnNode = (table: string, condition = ''): string => `
      insert into longshore.${table} (queue_id, seq, id, name, priority, max_attempts, args, meta)
      select queue_node.queue_id, ${seqOf('place')}, ${selected}
      from ${onNode(newJobs, columns)} ${condition}`;

/**
 * Inserts ready jobs of one queue that have no metadata and share the same name, priority and maximum number of
 * attempts, as in most bulk inserts.
 */
const insertAlike = inserters(
  'longshore-insert-alike',
  (visibility) =>
    `${inserted(
      `
      insert into longshore.job (queue_id, id, name, priority, max_attempts, args)
      select $1, id, $4::text, $5::smallint, $6::smallint, args
      from rows from (unnest($2::uuid[]), jsonb_array_elements($3::jsonb)) as new (id, args)`,
      visibility,
    )}${counted('enqueued')}`,
  `
    with ${nodeKnown}, ${numbered},
    inserted as (
      insert into longshore.job (queue_id, id, seq, name, priority, max_attempts, args)
      select queue_node.queue_id, new.id, ${seqOf('place')}, $4::text, $5::smallint, $6::smallint, new.args
      from ${onNode('unnest($2::uuid[]), jsonb_array_elements($3::jsonb)', 'id, args')}
    ), ${countedOnNode('enqueued')}`,
);

const insertReady = inserters(
  'longshore-insert-ready',
  (visibility) =>
    `${inserted(
      `
      insert into longshore.job (queue_id, id, name, priority, max_attempts, args, meta)
      select $1, id, name, priority, max_attempts, args, meta
      from rows from (
        unnest($2::uuid[]), jsonb_array_elements($3::jsonb),
        unnest($4::text[]), unnest($5::smallint[]), unnest($6::smallint[]), unnest($7::jsonb[])
      ) as new (id, args, name, priority, max_attempts, meta)`,
      visibility,
    )}${counted('enqueued')}`,
  `
    with ${nodeKnown}, ${numbered}, inserted as (${insertedOnNode('job')}), ${countedOnNode('enqueued')}`,
);

const hasKey = `coalesce(new.meta ? 'concurrencyKey', false)`;

/** Inserts jobs into one queue: jobs with a concurrency key as blocked, all others as ready. */
const insertWithConcurrencyKeys = inserters(
  'longshore-insert-blocked',
  (visibility) => `
    with new as materialized (
      select $1::integer as queue_id, *
      from rows from (
        unnest($2::uuid[]), jsonb_array_elements($3::jsonb),
        unnest($4::text[]), unnest($5::smallint[]), unnest($6::smallint[]), unnest($7::jsonb[])
      ) with ordinality as new (id, args, name, priority, max_attempts, meta, place)
    ),
    ${becomeReady('new', 'place', { columns: 'queue_id, id, name, priority, max_attempts, args, meta', visibility })}
    ${counted('enqueued')}`,
  `
    with ${nodeKnown}, ${numbered}, ${outboxNumbers('unnest($2::uuid[])')},
    ready as (${insertedOnNode('job', `and not ${hasKey}`)}),
    blocked as (${insertedOnNode('job_blocked', `and ${hasKey}`)}),
    arrived as (
      insert into longshore.outbox (id, queue_id, job_id, from_state, to_state, meta)
      select distinct on (new.meta -> 'concurrencyKey') ${numberOf('place')}, queue_node.queue_id, new.id, 'enqueued'::longshore.job_state,
        'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', new.meta -> 'concurrencyKey')
      from ${onNode('unnest($2::uuid[]), unnest($7::jsonb[])', 'id, meta')} and ${hasKey}
    ), ${countedOnNode('enqueued')}`,
);

/**
 * Inserts jobs that are scheduled for a given time, or for a number of milliseconds from now by the database's clock.
 */
const insertWaiting = prepared(
  'longshore-insert-waiting',
  `
    with inserted as (
      insert into longshore.job_scheduled (queue_id, id, name, priority, max_attempts, args, meta, run_at)
      select $1, id, name, priority, max_attempts, args, meta, case when due_at is null then ${fromNow('due_in')} else ${dueFrom('due_at')} end
      from rows from (
        unnest($2::uuid[]), jsonb_array_elements($3::jsonb),
        unnest($4::text[]), unnest($5::smallint[]), unnest($6::smallint[]), unnest($7::jsonb[]),
        unnest($8::timestamptz[]), unnest($9::float8[])
      ) as new (id, args, name, priority, max_attempts, meta, due_at, due_in)
    )${counted('scheduled')}`,
  `
    with ${nodeKnown},
    inserted as (
      insert into longshore.job_scheduled (queue_id, id, name, priority, max_attempts, args, meta, run_at)
      select queue_node.queue_id, ${selected}, case when due_at is null then ${fromNow('due_in')} else ${dueFrom('due_at')} end
      from ${onNode(`${newJobs}, unnest($8::timestamptz[]), unnest($9::float8[])`, `${columns}, due_at, due_in`)}
    ), ${countedOnNode('scheduled')}`,
);

/** One statement of an enqueue call, with its parameters. */
export interface Insert {
  readonly statement: Statement;
  readonly values: unknown[];
}

/** Builds the insert of ready jobs of one queue, using the cheapest statement that supports all of them. */
export function readyInsert(queueId: number, jobs: readonly NewJob[], visibility: Visibility): Insert {
  const [first] = jobs;
  if (first !== undefined && jobs.every((job) => isAlike(job, first))) {
    const values = [...idsAndArgs(queueId, jobs), first.name, first.priority, first.maxAttempts];
    return { statement: insertAlike[visibility], values };
  }
  const insert = jobs.some(hasConcurrencyKey) ? insertWithConcurrencyKeys : insertReady;
  return { statement: insert[visibility], values: allColumns(queueId, jobs) };
}

/** Builds the insert of jobs of one queue that are scheduled for a time or after a delay. */
export function waitingInsert(queueId: number, jobs: readonly NewJob[]): Insert {
  return {
    statement: insertWaiting,
    values: [
      ...allColumns(queueId, jobs),
      jobs.map(({ due }) => (due !== null && 'at' in due ? due.at.toISOString() : null)),
      jobs.map(({ due }) => (due !== null && 'inMs' in due ? due.inMs : null)),
    ],
  };
}

/** Returns whether the job has a concurrency key. Such a job is blocked until the key has room. */
export function hasConcurrencyKey({ meta }: NewJob): boolean {
  return meta?.concurrencyKey !== undefined;
}

function isAlike({ name, priority, maxAttempts, meta = null }: NewJob, first: NewJob): boolean {
  return (
    meta === null && name === first.name && priority === first.priority && maxAttempts === first.maxAttempts
  );
}

/**
 * Returns parameters $1 to $3 of an insert of jobs: queue, ids and arguments. The arguments form a single JSON array,
 * because Postgres parses this fastest.
 */
export function idsAndArgs(queueId: number, jobs: readonly NewJob[]): unknown[] {
  return [queueId, arrayOf(jobs.map(({ id }) => id)), `[${jobs.map(({ args }) => args).join(',')}]`];
}

function allColumns(queueId: number, jobs: readonly NewJob[]): unknown[] {
  return [
    ...idsAndArgs(queueId, jobs),
    jobs.map(({ name }) => name),
    arrayOf(jobs.map(({ priority }) => priority)),
    arrayOf(jobs.map(({ maxAttempts }) => maxAttempts)),
    jobs.map(({ meta }) => meta ?? null),
  ];
}
