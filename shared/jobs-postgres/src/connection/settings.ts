import pg from 'pg';

/** Postgres settings by name. */
export type Settings = Readonly<Record<string, string>>;

/**
 * Settings for statements that are written for nested loops over index lookups. The tables shrink to nothing and grow by a
 * hundred thousand rows between two autovacuum runs, so a planner that trusts their statistics would at some point choose a
 * sequential scan, keep that plan and stall the queue. Generic plans, because planning a claim takes as long as running it.
 * No JIT: Postgres 15 to 17 express a disabled scan as a high cost, which triggers compilation that takes 500 to 2600 ms for
 * a statement of 2 ms.
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
 * Settings for users' searches, which leave the choice to the planner; some need a bitmap scan (job metadata has a GIN
 * index). Compiling such a query takes longer than running it. No parallel workers: with two more, searches of ten million
 * jobs took between half as long and just as long on two processors, and left no capacity for jobs and pages.
 */
export const searchPlans: Settings = {
  random_page_cost: '1.1',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
};

/** Returns the settings that all sessions of the store share. */
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

/** Formats settings as startup options: the backend's command line, in which a backslash escapes a space. */
export function startupOptions(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, String.raw`\$&`)}`)
    .join(' ');
}

/** Returns statements that set the settings until the end of the transaction. */
export function localSettings(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `set local ${name} = ${pg.escapeLiteral(value)}`)
    .join('; ');
}

/** Returns a statement that limits the current transaction's duration, if this version of Postgres supports it. */
export function transactionTimeout(timeoutMs: number): string {
  return `select set_config('transaction_timeout', '${timeoutMs}', true)
    where current_setting('server_version_num')::integer >= 170000`;
}
