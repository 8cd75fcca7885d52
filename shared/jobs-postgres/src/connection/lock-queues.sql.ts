import type { Statement } from './database.js';

/**
 * $1 queues. Until the transaction ends no other one that asks for it changes their jobs. In the order of their numbers, so that
 * two who lock several do not end in a deadlock.
 */
export const lockQueues: Statement = {
  name: 'longshore-lock-queues',
  text: `
    select pg_advisory_xact_lock(('longshore.job'::regclass::oid::bigint << 32) | id)
    from (select distinct id from unnest($1::integer[]) as id order by id) as queue`,
};
