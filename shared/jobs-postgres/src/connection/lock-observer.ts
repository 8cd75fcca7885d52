import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** A session that another session waits for. */
export interface BlockingSession {
  /** The process id of the session; 0 for a prepared transaction. */
  readonly pid: number;
  /** The session's application name, or the kind of a process of the server, such as `autovacuum worker`. */
  readonly application: string;
  /** Such as `active` or `idle in transaction`; `null` if the role may not see it. */
  readonly state: string | null;
  /** Seconds since its current or last statement began; `null` if the role may not see it. */
  readonly querySeconds: number | null;
}

/** Columns of a {@link BlockingSession} from `pg_stat_activity`. Rows exist for every process id in `blocker (pid)`. */
const sessionOfBlocker = `
  select distinct pid, state,
    coalesce(nullif(application_name, ''), nullif(backend_type, 'client backend'),
      case pid when 0 then 'a prepared transaction' else 'unknown' end) as application,
    extract(epoch from clock_timestamp() - query_start)::float8 as "querySeconds"
  from blocker left join pg_catalog.pg_stat_activity using (pid)
  order by pid`;

/** How long a session can wait before it is asked whom it waits for, and how often afterwards, in milliseconds. */
const firstLookMs = 200;
const laterLooksMs = 100;

/**
 * Runs `work` in the session of a backend, and returns whom it waited for when it was last seen waiting. A session cannot
 * report this itself, so a second connection is opened if `work` takes longer than 200 ms.
 *
 * @param open opens the second connection
 */
export async function observingLocks<Result>(
  pid: number,
  open: () => Promise<pg.Client>,
  work: () => Promise<Result>,
  seen: (blockers: readonly BlockingSession[]) => void,
): Promise<Result> {
  const ended = new AbortController();
  const observing = observe(pid, open, seen, ended.signal).catch(() => undefined);
  try {
    return await work();
  } finally {
    ended.abort();
    await observing;
  }
}

async function observe(
  pid: number,
  open: () => Promise<pg.Client>,
  seen: (blockers: readonly BlockingSession[]) => void,
  signal: AbortSignal,
): Promise<void> {
  await sleep(firstLookMs, undefined, { signal });
  const client = await open();
  try {
    while (!signal.aborted) {
      const { rows } = await client.query<BlockingSession>(
        `with blocker as (select unnest(pg_catalog.pg_blocking_pids($1)) as pid) ${sessionOfBlocker}`,
        [pid],
      );
      if (rows.length > 0) seen(rows);
      await sleep(laterLooksMs, undefined, { signal });
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Returns who holds an advisory lock of this database. */
export async function holdersOf(client: pg.Client, key: string): Promise<readonly BlockingSession[]> {
  const { rows } = await client.query<BlockingSession>(
    `with blocker as (
       select pid from pg_catalog.pg_locks
       where locktype = 'advisory' and granted and objsubid = 1
         and database = (select oid from pg_catalog.pg_database where datname = current_database())
         and (classid::bigint << 32) | objid::bigint = $1
     ) ${sessionOfBlocker}`,
    [key],
  );
  return rows;
}

/** Returns a list of sessions as text, such as `psql (pid 123, idle in transaction, last statement 15 s ago)`. */
export function describe(sessions: readonly BlockingSession[]): string {
  if (sessions.length === 0) return 'an unknown session';
  return sessions.map(describeOne).join(', ');
}

function describeOne({ pid, application, state, querySeconds }: BlockingSession): string {
  const details = [
    ...(pid === 0 ? [] : [`pid ${pid}`]),
    ...(state === null ? [] : [state]),
    ...(querySeconds === null ? [] : [`last statement began ${Math.round(querySeconds)} s ago`]),
  ];
  return details.length === 0 ? application : `${application} (${details.join(', ')})`;
}
