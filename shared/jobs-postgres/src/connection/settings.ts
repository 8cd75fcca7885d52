import pg from 'pg';
import type { DatabaseOptions } from './database.js';

/** Settings of Postgres by their names. */
export type Settings = Readonly<Record<string, string>>;

/**
 * Every statement of the store is written for nested loops over index look-ups. The tables shrink to nothing and grow by a
 * hundred thousand rows between two visits of autovacuum, so a planner that goes by their statistics would at some moment
 * choose to read them whole, keep that plan, and stall the queue. Planned once for all values: to plan a claim anew takes
 * as long as to run it. Never compiled: Postgres 15 to 17 tell a forbidden scan by its price, and what is that dear is
 * compiled, for 500 to 2600 ms where the statement itself takes 2.
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
 * People's searches leave the choice to the planner, which knows their values; some need a bitmap scan (the index on what
 * jobs carry is a GIN index). To compile such a query takes longer than to run it. One processor each: with
 * two more, searches of ten million jobs were as quick to twice as quick on two processors, and left none to jobs and pages.
 */
export const searchPlans: Settings = {
  random_page_cost: '1.1',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
};

/** What the store's sessions differ in from others, whatever they do. */
export function sessionSettings({
  statementTimeoutMs,
  useRecommendedIsolationLevel,
}: Pick<DatabaseOptions, 'statementTimeoutMs' | 'useRecommendedIsolationLevel'>): Settings {
  return {
    statement_timeout: String(statementTimeoutMs),
    idle_in_transaction_session_timeout: '60000',
    ...(useRecommendedIsolationLevel && { default_transaction_isolation: 'read committed' }),
  };
}

/** For the start of a session: the backend's command line, in which a backslash escapes a space. */
export function startupOptions(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, String.raw`\$&`)}`)
    .join(' ');
}

/** Statements that set them until the end of the transaction. */
export function localSettings(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `set local ${name} = ${pg.escapeLiteral(value)}`)
    .join('; ');
}

/** A statement that bounds the transaction under way, if this Postgres knows such a bound. */
export function transactionTimeout(timeoutMs: number): string {
  return `select set_config('transaction_timeout', '${timeoutMs}', true)
    where current_setting('server_version_num')::integer >= 170000`;
}
