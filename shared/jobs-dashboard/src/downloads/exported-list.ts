import type { JsonValue } from '@longshore/jobs';
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
  /** Matches keys whose values are redacted. */
  readonly redact: RegExp;
}

/**
 * Parses the parameter `after`. Returns the id of the row after which the export begins, or `null` for the start of the
 * list.
 *
 * @throws {Problem} (400) if the parameter cannot be the id of a row
 */
export function placeIn(query: URLSearchParams, isId: (text: string) => boolean): string | null {
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
