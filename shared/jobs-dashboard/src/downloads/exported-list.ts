import type { JsonValue } from '@longshore/jobs';
import { badRequest } from '../http/problem.js';
import type { DashboardReader } from '../reading/dashboard-reader.js';

/** A row of an exported list, by column. */
export type Row = Readonly<Record<string, JsonValue | Date>>;

/** A page of rows of a list. */
export interface RowPage {
  readonly rows: readonly Row[];
  /** Where the list continues, as the parameter `after`; `null` at its end. */
  readonly next: string | null;
  /** Whether some unfinished jobs before this position were not searched. */
  readonly isUnsearched?: boolean;
}

/** The source of the data in exports. */
export interface ExportSource {
  /** Not cached, because a long list would evict everything else from the cache. */
  readonly reader: DashboardReader;
  /** Milliseconds since 1970 by the storage's clock. */
  readonly nowMs: number;
  /** Matches the keys whose values are never shown. */
  readonly redact: RegExp;
}

/**
 * Returns the id of the row after which a list continues; `null` at its beginning.
 *
 * @throws {Problem} 400 if it cannot be the id of a row
 */
export function placeIn(query: URLSearchParams, isId: (text: string) => boolean): string | null {
  const after = query.get('after');
  if (after !== null && !isId(after))
    throw badRequest('There is no such place in the list', `“${after}” is not the id of a row.`);
  return after;
}

/** A list that can be exported. */
export interface ExportedList {
  readonly columns: readonly string[];
  /**
   * Reads the list page by page.
   *
   * @param query the URL parameters of the list's page, and `after` for a list with a cursor
   * @throws {Problem} when the first page is read, if a parameter is invalid
   */
  readonly read: (query: URLSearchParams, source: ExportSource) => AsyncGenerator<RowPage>;
}
