import type { JsonValue } from '@longshore/jobs';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import type { JobRow } from './job-row.js';
import { selectDocuments, type SparingRow } from './listed-documents.sql.js';

/** Of large documents so many are read at once, and so many bytes as they are stored, which is compressed. */
const mostAtOnce = 8;
const mostBytesAtOnce = 1_000_000;

type Row = JobRow & SparingRow;

/**
 * Reads the documents that a list has left out, as long as they fit: a page of a thousand jobs of a megabyte never comes into
 * memory as a whole.
 *
 * @returns the first of the rows, one at least; `cut`: not all of them
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
    const documents = await documentsOf(database, group.filter(isSparing));
    for (const row of group) {
      const read = documents.get(row.id);
      bytes += read === undefined ? row.bytes : read.bytes;
      if (bytes > maxBytes && page.length > 0) return { rows: page, cut: true };
      if (read !== undefined) {
        if (row.args_left_out) row.args = read.args;
        if (row.result_left_out) row.result = read.result;
      } else if (isSparing(row)) continue; // it has just been deleted
      page.push(row);
    }
    next += group.length;
  }
  return { rows: page, cut: false };
}

/** The rows that need nothing more to be read, or the next few that do. */
function groupFrom(rows: readonly Row[], first: number): Row[] {
  const group: Row[] = [];
  let bytes = 0;
  for (const row of rows.slice(first)) {
    bytes += isSparing(row) ? row.bytes : 0;
    const isFull =
      group.length > 0 && (bytes > mostBytesAtOnce || group.filter(isSparing).length >= mostAtOnce);
    if (isFull && isSparing(row)) break;
    group.push(row);
  }
  return group;
}

function isSparing(row: Row): boolean {
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
