import type { Queryable } from '../database/database.js';

/** Maximum number of rows to count, unless an exact count is requested. */
export const maxExactCount = 10_000;

/**
 * Counts all rows if `exact` is set. Otherwise counts up to 10,000 rows, and estimates larger numbers from the query
 * plan.
 *
 * @param source the FROM and WHERE clauses, without the word FROM
 * @param options `atLeast`: the number of rows known to exist; an estimate is never lower
 */
export async function countItems(
  connection: Queryable,
  source: string,
  values: readonly unknown[],
  { exact, atLeast }: { readonly exact: boolean; readonly atLeast: number },
): Promise<{ total: number; estimated: boolean }> {
  const bound = exact ? '' : `limit ${maxExactCount + 1}`;
  const counted = await connection.query(
    `select count(*)::float8 as total from (select from ${source} ${bound}) counted`,
    [...values],
  );
  const total = Number(counted.rows[0]?.['total']);
  if (exact || total <= maxExactCount) return { total, estimated: false };
  const estimate = await estimateItems(connection, source, values);
  return { total: Math.max(estimate, atLeast, maxExactCount + 1), estimated: true };
}

/** Returns the number of rows that the planner expects. */
export async function estimateItems(
  connection: Queryable,
  source: string,
  values: readonly unknown[],
): Promise<number> {
  const { rows } = await connection.query(`explain (format json) select from ${source}`, [...values]);
  const plan = rows[0]?.['QUERY PLAN'] as readonly [{ readonly Plan: { readonly 'Plan Rows': number } }];
  return plan[0].Plan['Plan Rows'];
}
