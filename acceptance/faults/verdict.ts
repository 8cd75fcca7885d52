import { effects, jobProperties } from './job-properties.js';
import type { Load } from './load.js';
import type { Observer } from './observer.js';
import { storeProperties } from './store-properties.js';

/** A kind of violation, and the number of violations that were found. */
export interface Check {
  readonly property: string;
  readonly breaches: number;
  /** Up to five violations, as JSON cut to 3,000 characters. Empty or absent if there are none. */
  readonly samples?: string;
}

/**
 * Looks for violations in the store's tables and the ledger, after all jobs are done.
 *
 * @param schema the schema with the store's tables
 */
export async function judge(
  observer: Observer,
  { jobs, batches, toCancel }: Pick<Load, 'jobs' | 'batches' | 'toCancel'>,
  schema: string,
): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [property, sql] of [...jobProperties, ...storeProperties]) {
    const [row] = await observer.query<{ breaches: number; samples: string | null }>(
      `with accepted as materialized (${requested('$1')}), promised as materialized (${requested('$2')}),
       to_cancel as materialized (select unnest($3::uuid[]) as id)
       select count(*)::integer as breaches, left((jsonb_agg(to_jsonb(breach)) filter (where nth <= 5))::text, 3000) as samples
       from (select *, row_number() over () as nth from (${within(schema, sql)}) as found) as breach`,
      [JSON.stringify(jobs), JSON.stringify(batches), toCancel],
    );
    checks.push({ property, breaches: row?.breaches ?? NaN, samples: row?.samples ?? '' });
  }
  return checks;
}

/** Query that returns the accepted jobs or batches in a parameter. */
function requested(parameter: string): string {
  return `select id, "from", until from jsonb_to_recordset(${parameter}::jsonb) as _ (id uuid, "from" timestamptz, until timestamptz)`;
}

/** Figures in the report that are not checked. */
export interface Tally {
  readonly done: number;
  readonly cancelled: number;
  /** Number of jobs whose cancellation was acknowledged to an operator. */
  readonly acknowledged: number;
  /** Number of times that an operator retried a job that had failed. */
  readonly retried: number;
  /** Number of finished jobs that took more than one attempt. */
  readonly repeated: number;
  /** Number of attempts with the outcome `lost`, for example because the server died. */
  readonly lost: number;
  /** Number of plain jobs with more than one effect. This is not a violation, because plain jobs run at least once. */
  readonly doubled: number;
}

export async function tally(observer: Observer, schema: string): Promise<Tally> {
  const [row] = await observer.query<Tally & Record<string, number>>(
    within(
      schema,
      `
    select (count(*) filter (where state = 'done'))::integer as done,
      (count(*) filter (where state = 'cancelled'))::integer as cancelled,
      (select count(*)::integer from ledger.cancellation) as acknowledged,
      (select count(*)::integer from longshore.job_history, jsonb_array_elements(past_attempts) as past
       where name = 'brittle') as retried,
      (count(*) filter (where attempt > 1))::integer as repeated,
      (select count(*)::integer from longshore.job_history, jsonb_array_elements(past_attempts) as past
       where past ->> 'outcome' = 'lost') as lost,
      (select count(*)::integer from (${effects}) as effect where name = 'plain' and times > 1) as doubled
    from longshore.job_history`,
    ),
  );
  return row ?? { done: 0, cancelled: 0, acknowledged: 0, retried: 0, repeated: 0, lost: 0, doubled: 0 };
}

/** Rewrites a query to read tables in another schema. Leaves type casts and quoted names unchanged. */
function within(schema: string, sql: string): string {
  return sql.replaceAll(/(?<!'|::)longshore\./g, `${schema}.`);
}
