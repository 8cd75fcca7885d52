import pg from 'pg';
import { unprepared } from './statement.js';

/** Postgres settings by name. */
export type Settings = Readonly<Record<string, string>>;

/**
 * The contract between the storage and a session of Postgres: which settings a statement of the storage runs with. There
 * are three groups.
 *
 * - What a statement means and returns ({@link meaning}) never depends on the role, the database, the server, the URL, the
 *   pooler, the application's pool or the caller's transaction.
 * - Plans ({@link indexPlans}, {@link searchPlans}) are those that the statements were written for.
 * - Time limits ({@link limits}) follow the storage's options.
 *
 * Each way to reach Postgres applies them without a further round trip for a statement:
 *
 * - Connections of the storage: when they are opened ({@link startupOptions}, {@link sessionSettings}).
 * - Behind a pooler, and on the application's pool: in the statement that begins the transaction ({@link
 *   localSettings}).
 * - In a handler's transaction, the settings change hands ({@link Lending}), and in a caller's transaction, each statement
 *   sets what it means and restores what was set before ({@link entersSession}). Statements of the application never run
 *   with settings of the storage.
 *
 * All other settings are the operator's: resources, durability, costs, logging. `docs/operations.md` lists them, and
 * `test/session.test.ts` changes every setting of `pg_settings` that a session can have.
 */
export const meaning: Settings = {
  search_path: 'pg_catalog, pg_temp',
  client_encoding: 'UTF8',
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  extra_float_digits: '1',
  bytea_output: 'hex',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  backslash_quote: 'safe_encoding',
  transform_null_equals: 'off',
  quote_all_identifiers: 'off',
  gin_fuzzy_search_limit: '0',
};

/**
 * Planner settings for statements written for nested loops over index lookups. The planner must not rely on statistics:
 * tables can shrink to nothing and grow by a hundred thousand rows between two autovacuum runs, and a sequential scan
 * would stall the queue. Plans are generic, because planning a claim takes as long as running it. JIT is off, because
 * Postgres 15 to 17 give disabled scans a high cost. This cost would trigger a compilation of 500 to 2600 ms for a
 * statement that takes 2 ms.
 */
export const indexPlans: Settings = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_indexscan: 'on',
  enable_nestloop: 'on',
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
};

/**
 * Planner settings for users' searches. Bitmap scans stay enabled, because the GIN index on job metadata needs them.
 * JIT is off, because compiling a search takes longer than running it. Parallel workers are off, so that searches leave
 * processors free for other work.
 */
export const searchPlans: Settings = {
  enable_seqscan: 'on',
  enable_bitmapscan: 'on',
  enable_hashjoin: 'on',
  enable_mergejoin: 'on',
  enable_indexscan: 'on',
  enable_nestloop: 'on',
  plan_cache_mode: 'auto',
  random_page_cost: '1.1',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
};

/**
 * Planner settings for the feed, which reads short time spans of the history. Without statistics of the current day, the
 * planner would rather scan the day than use its block-range index: 77 ms instead of 7 for a page of 200,000 jobs.
 */
export const feedPlans: Settings = { ...searchPlans, enable_seqscan: 'off' };

/** Returns the time limits and the isolation level of every session of the store. */
export function limits({
  statementTimeoutMs,
  useRecommendedIsolationLevel,
}: {
  readonly statementTimeoutMs: number;
  readonly useRecommendedIsolationLevel: boolean;
}): Settings {
  return {
    statement_timeout: String(statementTimeoutMs),
    idle_in_transaction_session_timeout: '60000',
    idle_session_timeout: '0',
    ...(useRecommendedIsolationLevel && { default_transaction_isolation: 'read committed' }),
  };
}

/**
 * SQL that makes Postgres look once a second whether the client of a running statement is still connected, so that it does
 * not go on reading for a caller who has left. Without effect on Windows, where Postgres rejects the setting.
 */
export const stopsWithClient = `select pg_catalog.set_config('client_connection_check_interval', '1000', false)
  where pg_catalog.version() operator(pg_catalog.!~*) '(visual|msvc|mingw)'`;

/** Formats settings as command-line options for the backend, where a backslash escapes spaces and backslashes. */
export function startupOptions(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, String.raw`\$&`)}`)
    .join(' ');
}

/** Returns SQL that applies the settings to the session. */
export function sessionSettings(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `set ${name} = ${valueOf(name, value)}`)
    .join('; ');
}

/** Returns SQL that applies the settings until the end of the transaction. */
export function localSettings(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `set local ${name} = ${valueOf(name, value)}`)
    .join('; ');
}

/** The value of `search_path` is a list, so it has no quotes. */
function valueOf(name: string, value: string): string {
  return name === 'search_path' ? value : pg.escapeLiteral(value);
}

/**
 * SQL for a transaction in which first a statement of the storage runs, then those of the application, and finally
 * another one of the storage.
 */
export interface Lending {
  /** Runs once the transaction has begun. */
  readonly atFirst: string;
  /** Gives settings the values that the application expects. */
  readonly lend: string;
  /** Applies the settings of the storage again. */
  readonly takeBack: string;
  /** Runs after the commit, because the application may have changed the session. */
  readonly afterwards: string;
}

/** Returns the SQL for a connection whose session has these settings; the application expects the initial values. */
export function lendingOfOwn(settings: Settings): Lending {
  const initial = Object.keys(settings).map((name) => `set local ${name} to default`);
  return {
    atFirst: '',
    lend: initial.join('; '),
    takeBack: localSettings(settings),
    afterwards: sessionSettings(settings),
  };
}

/** Returns the SQL for a connection of the application; it expects the values that the session has. */
export function lendingOfForeign(settings: Settings): Lending {
  const names = Object.keys(settings);
  const set = (to: string, from: string): string =>
    `pg_catalog.set_config('${to}', pg_catalog.current_setting('${from}'), true)`;
  const keep = names.map((name) => set(`job_session.${name}`, name));
  const restore = names.map((name) => set(name, `job_session.${name}`));
  return {
    atFirst: `select ${keep.join(', ')}; ${localSettings(settings)}`,
    lend: `select ${restore.join(', ')}`,
    takeBack: localSettings(settings),
    afterwards: '',
  };
}

/**
 * Statements to run before and after one of the storage in a caller's transaction. They give it the meaning that it has
 * elsewhere, and restore what was set. The function does nothing in a session with the usual settings.
 */
export const entersSession = unprepared(
  'longshore-enter-session',
  `
    select pg_catalog.set_config('job_session.search_path', pg_catalog.current_setting('search_path'), true),
      pg_catalog.set_config('search_path', '${meaning['search_path']}', true), longshore.enter_session()`,
);
export const leavesSession = unprepared(
  'longshore-leave-session',
  `
    select longshore.leave_session(),
      pg_catalog.set_config('search_path', pg_catalog.current_setting('job_session.search_path'), true)`,
);

/** Returns a statement that limits the current transaction's duration; without effect before Postgres 17. */
export function transactionTimeout(timeoutMs: number): string {
  return `select set_config('transaction_timeout', '${timeoutMs}', true)
    where current_setting('server_version_num')::integer >= 170000`;
}

/**
 * Session settings on the coordinator. Unlike `indexPlans`, they do not restrict the kinds of joins, because such
 * settings would not reach the nodes. The plan cache mode lets Postgres plan a statement for its parameter values. Only
 * these values show Citus which node stores the queue.
 */
export const coordinatorPlans: Settings = { plan_cache_mode: 'auto', jit: 'off' };

/**
 * Returns statements that limit how long a transaction waits for a lock, on the coordinator and on the nodes. Citus
 * propagates `set local` to the nodes, but not `set_config`.
 */
export function lockTimeoutOnNodes(timeoutMs: string): string {
  return `set local citus.propagate_set_commands = 'local'; set local lock_timeout = ${timeoutMs}`;
}
