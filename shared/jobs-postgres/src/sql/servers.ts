import type { Statement } from '../database.js';

/** $1 id, $2 host, $3 pid, $4 queues, $5 concurrency, $6 timeout in ms. */
export const insertServer: Statement = {
  name: 'longshore-insert-server',
  text: `insert into longshore.server (id, host, pid, queues, concurrency, timeout_ms) values ($1, $2, $3, $4, $5, $6)`,
};

/** $1 id, $2 running jobs. No row in the answer: this server has been declared dead. */
export const beat: Statement = {
  text: `update longshore.server set heartbeat_at = now(), processing = $2 where id = $1 returning id`,
};

/** $1 id. */
export const deleteServer: Statement = {
  name: 'longshore-delete-server',
  text: `delete from longshore.server where id = $1`,
};

export interface ServerRow {
  id: string;
  host: string;
  pid: number;
  queues: string[];
  concurrency: number;
  processing: number;
  timeout_ms: number;
  started_at: Date;
  heartbeat_at: Date;
}

export const selectServers: Statement = {
  name: 'longshore-select-servers',
  text: `select * from longshore.server order by id`,
};

/** How connections are called in which a server holds rows locked for longer than a statement takes. */
export const transactionName = (serverId: string): string => `longshore for ${serverId}`;

/** $1 names. Ends the transactions that dead servers have left open, and waits a second for each to be gone. */
export const endTransactions: Statement = {
  name: 'longshore-end-transactions',
  text: `
    select pg_terminate_backend(pid, 1000) from pg_stat_activity
    where application_name = any ($1) and datname = current_database() and usename = current_user`,
};
