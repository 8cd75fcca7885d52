import { dueFrom, fromNow } from '../connection/from-now.sql.js';
import type { Forms } from './form.js';
import { replacedBy } from './form.js';
import { jobNumbers, numberOf, outboxNumbers, seqOf } from './numbers.sql.js';

/** SQL for the columns of new jobs: $2 ids, $3 arguments, $4 names, $5 priorities, $6 maximum attempts, $7 metadata. */
const newJobs = `unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($4::text[]), unnest($5::smallint[]),
        unnest($6::smallint[]), unnest($7::jsonb[])`;

/** A CTE that ensures that the queue has a row in `queue_node`. {@link onNode} selects from this row. */
const nodeKnown = `
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
const onNode = (functions: string, columns: string): string => `longshore.queue_node
      cross join rows from (${functions}) with ordinality as new (${columns}, place)
      where queue_node.queue_id = $1`;

const counted = (state: string): string => `
    counted as (insert into longshore.job_count (queue_id, state, jobs) values ($1, '${state}', cardinality($2::uuid[])))
    select now() as created_at`;

const alike = replacedBy(`
    with ${nodeKnown}, ${numbered},
    inserted as (
      insert into longshore.job (queue_id, id, seq, name, priority, max_attempts, args)
      select queue_node.queue_id, new.id, ${seqOf('place')}, $4::text, $5::smallint, $6::smallint, new.args
      from ${onNode('unnest($2::uuid[]), jsonb_array_elements($3::jsonb)', 'id, args')}
    ), ${counted('enqueued')}`);

const columns = 'id, args, name, priority, max_attempts, meta';
const selected = 'new.id, new.name, new.priority, new.max_attempts, new.args, new.meta';

const inserted = (table: string, condition = ''): string => `
      insert into longshore.${table} (queue_id, seq, id, name, priority, max_attempts, args, meta)
      select queue_node.queue_id, ${seqOf('place')}, ${selected}
      from ${onNode(newJobs, columns)} ${condition}`;

const ready = replacedBy(`
    with ${nodeKnown}, ${numbered}, inserted as (${inserted('job')}), ${counted('enqueued')}`);

const hasKey = `coalesce(new.meta ? 'concurrencyKey', false)`;

const withConcurrencyKeys = replacedBy(`
    with ${nodeKnown}, ${numbered}, ${outboxNumbers('unnest($2::uuid[])')},
    ready as (${inserted('job', `and not ${hasKey}`)}),
    blocked as (${inserted('job_blocked', `and ${hasKey}`)}),
    arrived as (
      insert into longshore.outbox (id, queue_id, job_id, from_state, to_state, meta)
      select distinct on (new.meta -> 'concurrencyKey') ${numberOf('place')}, queue_node.queue_id, new.id, 'enqueued'::longshore.job_state,
        'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', new.meta -> 'concurrencyKey')
      from ${onNode('unnest($2::uuid[]), unnest($7::jsonb[])', 'id, meta')} and ${hasKey}
    ), ${counted('enqueued')}`);

const waiting = replacedBy(`
    with ${nodeKnown},
    inserted as (
      insert into longshore.job_scheduled (queue_id, id, name, priority, max_attempts, args, meta, run_at)
      select queue_node.queue_id, ${selected}, case when due_at is null then ${fromNow('due_in')} else ${dueFrom('due_at')} end
      from ${onNode(`${newJobs}, unnest($8::timestamptz[]), unnest($9::float8[])`, `${columns}, due_at, due_in`)}
    ), ${counted('scheduled')}`);

const awaiting = replacedBy(`
    with ${nodeKnown},
    inserted as (
      insert into longshore.job_awaiting (queue_id, id, name, priority, max_attempts, args, meta, run_at, delay_ms)
      select queue_node.queue_id, ${selected}, run_at, delay_ms
      from ${onNode(`${newJobs}, unnest($8::timestamptz[]), unnest($9::float8[])`, `${columns}, run_at, delay_ms`)}
    ), ${counted('awaiting')}`);

/**
 * Citus forms of the statements that insert jobs. Each runs on the queue's node, with separate tasks for the jobs and
 * the counters. Inserts with late visibility record no gaps, because scans on Citus start at the head.
 */
export const enqueueForms: Forms = {
  'longshore-insert-alike': alike,
  'longshore-insert-alike-late': alike,
  'longshore-insert-ready': ready,
  'longshore-insert-ready-late': ready,
  'longshore-insert-blocked': withConcurrencyKeys,
  'longshore-insert-blocked-late': withConcurrencyKeys,
  'longshore-insert-waiting': waiting,
  'longshore-insert-awaiting': awaiting,
};
