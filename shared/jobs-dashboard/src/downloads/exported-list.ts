import type { JsonValue } from '@longshore/jobs';
import { ExactNumber, omitted, redact, redacted, type Shown } from '@longshore/jobs/storage';
import { badRequest } from '../http/problem.js';
import type { DashboardReader } from '../reading/dashboard-reader.js';

/** A row of an exported list: values by column. */
export type Row = Readonly<Record<string, JsonValue | Date>>;

export interface RowPage {
  readonly rows: readonly Row[];
  /** The value for the parameter `after` that continues the list; `null` at the end of the list. */
  readonly next: string | null;
  /** Whether the word search stopped before it had read every unfinished job. Defaults to `false`. */
  readonly isUnsearched?: boolean;
}

/** What {@link ExportedList.read} needs besides the query. */
export interface ExportSource {
  /** Bypasses the cache, because a long list would evict all other entries. */
  readonly reader: DashboardReader;
  /** Milliseconds since 1970 by the storage's clock. */
  readonly nowMs: number;
  readonly redact: RegExp;
}

/**
 * Parses the parameter `after`. Returns the id of the row after which the export begins, or `null` for the start of the
 * list.
 *
 * @throws {Problem} (400) if the parameter cannot be the id of a row
 */
export function positionIn(query: URLSearchParams, isId: (text: string) => boolean): string | null {
  const after = query.get('after');
  if (after !== null && !isId(after))
    throw badRequest('There is no such place in the list', `“${after}” is not the id of a row.`);
  return after;
}

/** A list that can be exported, with its columns in order. */
export interface ExportedList {
  readonly columns: readonly string[];
  /**
   * Reads the list page by page.
   *
   * @param query the URL parameters of the list's page and, if the list has a cursor, `after`
   * @throws {Problem} if a parameter is invalid; only while the first page is being read
   */
  readonly read: (query: URLSearchParams, source: ExportSource) => AsyncGenerator<RowPage>;
}

/**
 * Returns a value as it appears in exports: redacted in the same way as on pages, and with `≈` in front of integers
 * that may have lost digits.
 */
export function exportedJson(value: JsonValue, pattern: RegExp): JsonValue {
  return plain(redact(value, pattern));
}

function plain(value: Shown): JsonValue {
  if (value === redacted) return 'redacted';
  if (value === omitted) return '…';
  if (value instanceof ExactNumber) return value.text;
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? `≈${value}` : value;
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}
