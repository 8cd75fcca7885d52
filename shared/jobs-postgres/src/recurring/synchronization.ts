import type { NewRecurringJob } from '@longshore/jobs';
import { Schedule, type SynchronizationReport } from '@longshore/jobs/storage';
import type pg from 'pg';
import type { Connection } from '../connection/connection.js';
import type { Statement } from '../connection/statement.js';
import * as sql from './recurring-jobs.sql.js';

/**
 * Replaces an application's recurring jobs with those defined in its code. Skips ids that belong to another owner, and
 * lists them under `refused`. Locks the rows in order of id, to avoid deadlocks with other servers that start at the
 * same time.
 */
export async function synchronize(
  client: Connection,
  application: string,
  jobs: readonly NewRecurringJob[],
): Promise<SynchronizationReport> {
  const report: SynchronizationReport = { added: [], updated: [], removed: [], refused: [] };
  const defined = new Set(jobs.map(({ id }) => id));
  const rows = await query<{ id: string; application: string | null }>(client, sql.lockOwned, [
    application,
    [...defined],
  ]);
  const owners = new Map(rows.map((row) => [row.id, row.application]));
  const [clock] = await query<{ now: Date }>(client, sql.selectNow);
  if (clock === undefined) throw new Error('The database did not return its time');
  for (const job of jobs.toSorted((left, right) => (left.id < right.id ? -1 : 1))) {
    const owner = owners.get(job.id);
    if (owner !== undefined && owner !== application) {
      report.refused.push(job.id);
      continue;
    }
    const values = sql.upsertValues(job, application, new Schedule(job).next(clock.now));
    const changed = await query(client, sql.upsertRecurringJob, values);
    if (changed.length > 0) (owner === undefined ? report.added : report.updated).push(job.id);
  }
  const gone = rows.filter(({ id }) => !defined.has(id)).map(({ id }) => id);
  if (gone.length > 0) await query(client, sql.deleteRecurringJobs, [gone]);
  for (const id of gone) report.removed.push(id);
  return report;
}

export async function query<Result extends pg.QueryResultRow>(
  client: Connection,
  statement: Statement,
  values: unknown[] = [],
): Promise<Result[]> {
  return (await client.query<Result>(statement, values)).rows;
}
