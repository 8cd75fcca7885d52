import type { Statement } from '../connection/database.js';
import { jobWithId } from './find-jobs.sql.js';
import { progressOf } from './reports.sql.js';

/** Which arguments and results a list reads: all, none, or those that are small for certain, to read the others one after the other. */
export type ListedDocuments = 'all' | 'none' | 'small';

/** A row of a list with its small documents. */
export interface SparingRow {
  /** Of the documents, as they are stored. */
  readonly bytes: number;
  readonly args_left_out: boolean;
  readonly result_left_out: boolean;
}

/** Stored as they are, and so short: compressed ones may be a hundred times as long. */
const mostBytes = 8_000;

const columns = `id, queue_id, state, name, priority, error, attempt, max_attempts, created_at, run_at, ready_at, started_at,
  finished_at, server_id, meta, past_attempts`;

/** The columns of a list. What is left out is not fetched from where Postgres keeps large values. */
export function listedColumns(alias: string, documents: ListedDocuments): string {
  if (documents === 'all') return `${alias}.*`;
  const others = columns.split(',').map((column) => `${alias}.${column.trim()}`);
  if (documents === 'none') return [...others, 'null::jsonb as args', 'null::jsonb as result'].join(', ');
  const isLarge = (column: string): string =>
    `coalesce(pg_column_compression(${alias}.${column}) is not null or pg_column_size(${alias}.${column}) > ${mostBytes}, false)`;
  return [
    ...others,
    ...['args', 'result'].flatMap((column) => [
      `case when not ${isLarge(column)} then ${alias}.${column} end as ${column}`,
      `${isLarge(column)} as ${column}_left_out`,
    ]),
    `coalesce(pg_column_size(${alias}.args), 0) + coalesce(pg_column_size(${alias}.result), 0) as bytes`,
  ].join(', ');
}

/** The jobs with the ids $1, in their order, without what they were given and returned. */
export const findBareJobs: Statement = {
  name: 'longshore-find-bare-jobs',
  text: `
  select ${listedColumns('found', 'none')}, ${progressOf('found')}
  from unnest($1::uuid[]) with ordinality as wanted (wanted_id, place)
  cross join lateral (${jobWithId('wanted_id')}) as found
  order by place`,
};

/** What the jobs with the ids $1 in the queues $2 were given and returned, as text. */
export const selectDocuments: Statement = {
  name: 'longshore-select-documents',
  text: `
  select wanted_id as id, found.args::text as args, found.result::text as result
  from unnest($1::uuid[], $2::integer[]) as wanted (wanted_id, wanted_queue)
  cross join lateral (${jobWithId('wanted_id', 'wanted_queue')}) as found`,
};
