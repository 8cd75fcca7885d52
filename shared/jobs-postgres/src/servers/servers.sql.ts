import type { Server, ServerRequest, ServerState } from '@longshore/jobs/storage';
import { prepared, unprepared } from '../connection/statement.js';

/**
 * $1 id, $2 host, $3 pid, $4 queues, $5 concurrency, $6 timeout in ms; $7 names of the jobs that the server has
 * handlers for, or null for all jobs, $8 weights of the queues, or null.
 */
export const insertServer = prepared(
  'longshore-insert-server',
  `
    insert into longshore.server (id, host, pid, queues, concurrency, timeout_ms, job_names, queue_weights)
    values ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

export interface BeatRow {
  /** `false` if another transaction has locked the server's row. */
  sent: boolean;
  requested: ServerRequest | null;
  /** The database's time, in milliseconds since 1970. */
  now: string;
}

/**
 * $1 id, $2 number of running jobs, $3 state, $4 how many milliseconds the server's clock is ahead, or null if unknown.
 * Records a heartbeat. Returns no row if the server has been declared dead. Does not wait if the row is locked, because
 * the heartbeats of other servers use the same connection.
 */
export const beat = unprepared(
  'longshore-beat',
  `
    with free as materialized (
      select id from longshore.server where id = $1 for no key update skip locked
    ),
    beaten as (
      update longshore.server set heartbeat_at = now(), processing = $2, state = $3, clock_ahead_ms = coalesce($4, clock_ahead_ms)
      from free where server.id = free.id
      returning server.id
    )
    select exists (select 1 from beaten) as sent, requested, extract(epoch from clock_timestamp()) * 1000 as now
    from longshore.server where id = $1`,
);

/** $1 id. */
export const deleteServer = prepared('longshore-delete-server', `delete from longshore.server where id = $1`);

export interface ServerRow {
  id: string;
  host: string;
  pid: number;
  queues: string[];
  job_names: string[] | null;
  concurrency: number;
  processing: number;
  state: ServerState;
  requested: ServerRequest | null;
  timeout_ms: number;
  started_at: Date;
  heartbeat_at: Date;
  clock_ahead_ms: number | null;
  version: string | null;
  queue_weights: number[] | null;
}

export const selectServers = prepared(
  'longshore-select-servers',
  `select server.*, version from longshore.server left join longshore.server_version on server_id = id order by id`,
);

/**
 * Returns up to 100 servers that were lost within the last day. Older rows can exist, because they are only deleted
 * when another server is lost.
 */
export const selectLostServers = prepared(
  'longshore-select-lost-servers',
  `
    select id, host, pid, processing, heartbeat_at as "heartbeatAt", lost_at as "lostAt" from longshore.lost_server
    where lost_at > now() - interval '1 day' order by lost_at desc, id desc limit 100`,
);

/**
 * $1 id. Returns the server and locks it until the transaction ends. During that time, no heartbeat of the server is
 * recorded.
 */
export const lockServer = prepared(
  'longshore-lock-server',
  `
    select server.*, version from longshore.server left join longshore.server_version on server_id = id
    where id = $1 for update of server`,
);

/** $1 id, $2 request. Stores an operator's request, which the server receives with its next heartbeat. */
export const requestOfServer = prepared(
  'longshore-request-of-server',
  `update longshore.server set requested = $2 where id = $1`,
);

export function toServer(row: ServerRow): Server {
  return {
    id: row.id,
    host: row.host,
    pid: row.pid,
    queues: row.queues,
    queueWeights: row.queue_weights,
    jobNames: row.job_names,
    concurrency: row.concurrency,
    processing: row.processing,
    state: row.state,
    requested: row.requested,
    startedAt: row.started_at,
    heartbeatAt: row.heartbeat_at,
    timeoutMs: row.timeout_ms,
    clockAheadMs: row.clock_ahead_ms,
    version: row.version,
  };
}

/**
 * Selects the servers that have not sent a heartbeat for longer than their timeout, not counting the time before
 * Postgres started.
 */
export const silentServers = `
      select id from longshore.server
      where greatest(heartbeat_at, pg_postmaster_start_time()) < now() - timeout_ms * interval '1 millisecond'`;

/** SQL condition on a connection: its transaction belongs to a server that is silent or has been declared dead. */
export const isOfDeadServer = `application_name like 'longshore for %' and datname = current_database() and usename = current_user
      and application_name not in (
        select 'longshore for ' || id from longshore.server where id not in (${silentServers})
      )`;

/**
 * Terminates the open transactions of servers that are silent or have been declared dead; waits up to a second for
 * each.
 */
export const endTransactions = prepared(
  'longshore-end-transactions',
  `
    select pg_terminate_backend(pid, 1000) from pg_stat_activity
    where ${isOfDeadServer}`,
);
