import pg from 'pg';

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
 * - In a transaction in which the application's own statements run, each statement of the storage sets what it means and
 *   restores what was set before ({@link guardOf}). The application's statements never run with settings of the storage.
 *
 * All other settings are the operator's: resources, durability, costs, logging. `docs/operations.md` lists them, and
 * `test/session.test.ts` changes every setting of `pg_settings` that a session can have.
 */
export const meaning: Settings = {
  search_path: 'pg_catalog, pg_temp',
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

/** Formats settings as command-line options for the backend, where a backslash escapes spaces and backslashes. */
export function startupOptions(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, String.raw`\$&`)}`)
    .join(' ');
}

/** Returns a statement that applies the settings to the session. */
export function sessionSettings(settings: Settings): string {
  return setting(settings, 'false');
}

/** Returns a statement that applies the settings until the end of the transaction. */
export function localSettings(settings: Settings): string {
  return setting(settings, 'true');
}

/**
 * Returns a statement that gives settings the values that they had when the session began, until the end of the
 * transaction.
 */
export function initialSettings(settings: Settings): string {
  return Object.keys(settings)
    .map((name) => `set local ${name} to default`)
    .join('; ');
}

/** SQL to run before and after a statement of the storage in a transaction of the application. */
export interface Guard {
  /** Two statements: the first keeps the values of the settings, the second sets those of the storage. */
  readonly apply: readonly [string, string];
  /** Restores the values that `apply` kept. */
  readonly restore: string;
}

/**
 * Returns the SQL that guards a statement. The previous values are kept in the session, so that all three statements can
 * be sent at once.
 */
export function guardOf(settings: Settings): Guard {
  const names = Object.keys(settings);
  const rows = (columns: (name: string) => readonly string[]): string =>
    names
      .map(
        (name) =>
          `(${columns(name)
            .map((text) => pg.escapeLiteral(text))
            .join(', ')})`,
      )
      .join(', ');
  const kept = (name: string): string => `longshore_session.${name}`;
  const keep = `select ${count('s.copy', 'pg_catalog.current_setting(s.name)', 'true')}
    from (values ${rows((name) => [kept(name), name])}) as s (copy, name)`;
  const restore = `select ${count('s.name', 'pg_catalog.current_setting(s.copy)', 'true')}
    from (values ${rows((name) => [kept(name), name])}) as s (copy, name)`;
  return { apply: [keep, localSettings(settings)], restore };
}

/**
 * Sets all settings with a single statement, because its response is shorter than that of several `set` commands. Names
 * functions with their schema and uses no operators, because the session's `search_path` may contain others of the same
 * name. Returns an empty string if there are no settings.
 */
function setting(settings: Settings, isLocal: string): string {
  const rows = Object.entries(settings).map(
    ([name, value]) => `(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)})`,
  );
  if (rows.length === 0) return '';
  return `select ${count('s.name', 's.value', isLocal)} from (values ${rows.join(', ')}) as s (name, value)`;
}

function count(name: string, value: string, isLocal: string): string {
  return `pg_catalog.count(pg_catalog.set_config(${name}, ${value}, ${isLocal}))`;
}

/** Returns a statement that limits the current transaction's duration; without effect before Postgres 17. */
export function transactionTimeout(timeoutMs: number): string {
  return `select set_config('transaction_timeout', '${timeoutMs}', true)
    where current_setting('server_version_num')::integer >= 170000`;
}
