import pg from 'pg';

/** Postgres settings by name. */
export type Settings = Readonly<Record<string, string>>;

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
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
};

/**
 * Planner settings for users' searches. Bitmap scans stay enabled, because the GIN index on job metadata needs them.
 * JIT is off, because compiling a search takes longer than running it. Parallel workers are off, so that searches leave
 * processors free for other work.
 */
export const searchPlans: Settings = {
  random_page_cost: '1.1',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
};

/** Returns the settings that every session of the store uses. */
export function sessionSettings({
  statementTimeoutMs,
  useRecommendedIsolationLevel,
}: {
  readonly statementTimeoutMs: number;
  readonly useRecommendedIsolationLevel: boolean;
}): Settings {
  return {
    statement_timeout: String(statementTimeoutMs),
    idle_in_transaction_session_timeout: '60000',
    ...(useRecommendedIsolationLevel && { default_transaction_isolation: 'read committed' }),
  };
}

/** Formats settings as command-line options for the backend, where a backslash escapes spaces and backslashes. */
export function startupOptions(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, String.raw`\$&`)}`)
    .join(' ');
}

/**
 * Returns a statement that applies the settings until the end of the transaction, or an empty string if there are no
 * settings. A single statement has a shorter response than several `set` commands.
 */
export function localSettings(settings: Settings): string {
  const rows = Object.entries(settings).map(
    ([name, value]) => `(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)})`,
  );
  if (rows.length === 0) return '';
  return `select count(set_config(name, value, true)) from (values ${rows.join(', ')}) as setting (name, value)`;
}

/** Returns a statement that limits the current transaction's duration; without effect before Postgres 17. */
export function transactionTimeout(timeoutMs: number): string {
  return `select set_config('transaction_timeout', '${timeoutMs}', true)
    where current_setting('server_version_num')::integer >= 170000`;
}
