import type { JsonValue } from '@longshore/jobs';
import { maxBriefBytes } from '@longshore/jobs/storage';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { prepared } from '../connection/statement.js';
import type { JobRow } from './job-row.js';
import { jobsWhere, jobWithId, reported, withReported } from './find-jobs.sql.js';
import { reportedOf } from './reports.sql.js';

/**
 * Which documents (arguments and results of jobs) a list reads:
 *
 * - `all`: all of them
 * - `none`: none
 * - `results`: only results
 * - `small`: only documents that are certainly small; {@link withDocuments} can read the others later, a few at a time
 * - `brief`: only arguments of at most {@link maxBriefBytes} bytes, and no results
 */
export type ListedDocuments = 'all' | 'none' | 'results' | 'small' | 'brief';

/** Additional columns of list rows that may lack large documents. */
export interface PartialRow {
  /** Stored size of the job's arguments and result, in bytes. */
  readonly bytes: number;
  readonly args_left_out: boolean;
  readonly result_left_out: boolean;
}

/**
 * Maximum stored size of a small document, in bytes. A compressed document never counts as small, because it can expand
 * a hundredfold.
 */
const maxBytes = 8_000;

const columns = `id, queue_id, state, name, priority, error, attempt, max_attempts, created_at, run_at, ready_at, started_at,
  finished_at, server_id, meta, past_attempts`;

/** Returns the select list for a list of jobs. Large documents that are left out are not read from the TOAST table. */
export function listedColumns(alias: string, documents: ListedDocuments): string {
  if (documents === 'all') return `${alias}.*`;
  const otherColumns = columns.split(',').map((column) => `${alias}.${column.trim()}`);
  if (documents === 'none')
    return [...otherColumns, 'null::jsonb as args', 'null::jsonb as result'].join(', ');
  if (documents === 'results') return [...otherColumns, 'null::jsonb as args', `${alias}.result`].join(', ');
  if (documents === 'brief') {
    // Checks the stored size first, so that only documents with a small stored size are decompressed.
    const isShort = `pg_column_size(${alias}.args) <= ${maxBriefBytes} and octet_length(${alias}.args::text) <= ${maxBriefBytes}`;
    const args = `case when ${isShort} then ${alias}.args end as args`;
    return [...otherColumns, args, `not (${isShort}) as args_left_out`, 'null::jsonb as result'].join(', ');
  }
  const isLarge = (column: string): string =>
    `coalesce(pg_column_compression(${alias}.${column}) is not null or pg_column_size(${alias}.${column}) > ${maxBytes}, false)`;
  return [
    ...otherColumns,
    ...['args', 'result'].flatMap((column) => [
      `case when not ${isLarge(column)} then ${alias}.${column} end as ${column}`,
      `${isLarge(column)} as ${column}_left_out`,
    ]),
    `coalesce(pg_column_size(${alias}.args), 0) + coalesce(pg_column_size(${alias}.result), 0) as bytes`,
  ].join(', ');
}

/**
 * Returns a statement, for Citus, that reads the jobs with the ids in $1, in that order. Removes duplicates, because a job that is
 * moving between nodes can be found twice.
 *
 * @param documents which of the arguments and results to include
 * @param queues {@link ofQueues} if the statement has a second parameter; empty otherwise
 */
const listedOnNodes = (documents: Parameters<typeof listedColumns>[1], queues = ''): string => `
    with found as materialized (
      select ${listedColumns('found', documents)}, ${reported}
      from ${withReported(`(${jobsWhere(`id = any($1::uuid[])${queues}`)}) as found`)}
    )
    select * from (select distinct on (id) found.* from found) as found order by array_position($1::uuid[], id)`;

/**
 * SQL condition that is always true. It only declares the type of $2, the queues, which these statements do not use,
 * because they search all shards.
 */
const ofQueues = ' and $2::integer[] is not null';

/** $1 ids. Returns the jobs with their arguments and results, in the order of these ids. */
export const findJobs = prepared('longshore-find-jobs', listedAnywhere('all'), listedOnNodes('all'));

/** $1 ids. Returns the jobs in the order of these ids, without their arguments and results. */
export const findBareJobs = prepared(
  'longshore-find-bare-jobs',
  listedAnywhere('none'),
  listedOnNodes('none'),
);

/** $1 ids. Returns the jobs in the order of these ids, with their results, but without their arguments. */
export const findJobResults = prepared(
  'longshore-find-job-results',
  listedAnywhere('results'),
  listedOnNodes('results'),
);

function listedAnywhere(documents: ListedDocuments): string {
  return `
  select ${listedColumns('found', documents)}, ${reportedOf('found')}
  from unnest($1::uuid[]) with ordinality as wanted (wanted_id, place)
  cross join lateral (${jobWithId('wanted_id')}) as found
  order by place`;
}

/**
 * Parallel arrays: $1 ids, $2 queues. The statements return the jobs in the order of these ids: `small` leaves out
 * large documents, `none` leaves out all documents.
 */
export const findListedJobs = {
  small: prepared('longshore-find-small-jobs', listedJobs('small'), listedOnNodes('small', ofQueues)),
  none: prepared('longshore-find-undocumented-jobs', listedJobs('none'), listedOnNodes('none', ofQueues)),
};

function listedJobs(documents: ListedDocuments): string {
  return `
  select ${listedColumns('found', documents)}, ${reportedOf('found')}
  from unnest($1::uuid[], $2::integer[]) with ordinality as wanted (wanted_id, wanted_queue, place)
  cross join lateral (${jobWithId('wanted_id', 'wanted_queue')}) as found
  order by place`;
}

/** Reads jobs that a search has found, in this order. Jobs that have been deleted since are left out. */
export async function listedRows(
  database: Database,
  found: readonly { readonly id: string | null; readonly queue_id: number | null }[],
  documents: 'small' | 'none',
): Promise<Row[]> {
  const places = found.flatMap(({ id, queue_id: queueId }) =>
    id === null || queueId === null ? [] : [{ id, queueId }],
  );
  if (places.length === 0) return [];
  return database.query<Row>(findListedJobs[documents], [
    arrayOf(places.map(({ id }) => id)),
    arrayOf(places.map(({ queueId }) => queueId)),
  ]);
}

/** Parallel arrays: $1 ids, $2 queues. Returns the jobs' arguments and results as JSON text. */
export const selectDocuments = prepared(
  'longshore-select-documents',
  `
  select wanted_id as id, found.args::text as args, found.result::text as result
  from unnest($1::uuid[], $2::integer[]) as wanted (wanted_id, wanted_queue)
  cross join lateral (${jobWithId('wanted_id', 'wanted_queue')}) as found`,
  `
    select distinct on (found.id) found.id, found.args::text as args, found.result::text as result
    from (${jobsWhere(`id = any($1::uuid[])${ofQueues}`)}) as found`,
);

/**
 * Limits of a single query for large documents: the number of jobs, and the total stored (compressed) size in bytes.
 */
const maxAtOnce = 8;
const maxBytesAtOnce = 1_000_000;

type Row = JobRow & PartialRow;

/**
 * Adds the omitted documents to the rows of a list. Stops before the page exceeds `maxBytes`, to limit memory use.
 *
 * @returns the rows that fit, including the first row even if it is too large. Leaves out a partial row if the job was
 *   deleted before its documents were read. `cut` is `true` if `maxBytes` ended the page.
 */
export async function withDocuments(
  database: Database,
  rows: readonly Row[],
  maxBytes: number,
): Promise<{ rows: JobRow[]; cut: boolean }> {
  const page: JobRow[] = [];
  let bytes = 0;
  for (let next = 0; next < rows.length;) {
    const group = groupFrom(rows, next);
    const documents = await documentsOf(database, group.filter(isPartial));
    for (const row of group) {
      const read = documents.get(row.id);
      bytes += read === undefined ? row.bytes : read.bytes;
      if (bytes > maxBytes && page.length > 0) return { rows: page, cut: true };
      if (read !== undefined) {
        if (row.args_left_out) row.args = read.args;
        if (row.result_left_out) row.result = read.result;
      } else if (isPartial(row)) continue; // the job has just been deleted
      page.push(row);
    }
    next += group.length;
  }
  return { rows: page, cut: false };
}

/**
 * Returns the longest run of rows, starting at index `first`, whose omitted documents a single query can read. Contains
 * at least one row, even if its documents are too large.
 */
function groupFrom(rows: readonly Row[], first: number): Row[] {
  const group: Row[] = [];
  let bytes = 0;
  for (const row of rows.slice(first)) {
    bytes += isPartial(row) ? row.bytes : 0;
    const isFull =
      group.length > 0 && (bytes > maxBytesAtOnce || group.filter(isPartial).length >= maxAtOnce);
    if (isFull && isPartial(row)) break;
    group.push(row);
  }
  return group;
}

function isPartial(row: Row): boolean {
  return row.args_left_out || row.result_left_out;
}

interface Documents {
  readonly args: JsonValue;
  readonly result: JsonValue;
  readonly bytes: number;
}

async function documentsOf(database: Database, rows: readonly Row[]): Promise<Map<string, Documents>> {
  if (rows.length === 0) return new Map();
  const found = await database.query<{ id: string; args: string | null; result: string | null }>(
    selectDocuments,
    [arrayOf(rows.map(({ id }) => id)), arrayOf(rows.map((row) => row.queue_id))],
  );
  return new Map(
    found.map(({ id, args, result }) => [
      id,
      {
        args: parsed(args),
        result: parsed(result),
        bytes: Buffer.byteLength(args ?? '') + Buffer.byteLength(result ?? ''),
      },
    ]),
  );
}

function parsed(text: string | null): JsonValue {
  return text === null ? null : (JSON.parse(text) as JsonValue);
}
