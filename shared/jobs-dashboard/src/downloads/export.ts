import { setTimeout } from 'node:timers/promises';
import { StorageUnavailableError } from '@longshore/jobs';
import type { ExportedList, RowPage } from './exported-list.js';
import type { ExportFormat, Incomplete } from './export-format.js';

/** The limits of an export. An export that reaches one of them ends even if the list continues. */
export interface ExportBounds {
  readonly maxRows: number;
  readonly maxMs: number;
  /** Ends the export when aborted, so that the export does not delay a shutdown. */
  readonly closing: AbortSignal | undefined;
  /** Called with unexpected errors. Not called if the storage is unavailable. */
  readonly onError: (error: unknown) => void;
}

/**
 * Reads and formats a page of the list whenever the consumer requests more, so that at most one page is in memory.
 * After each read, pauses for as long as the read took, so that an export occupies the storage for at most half of the
 * time.
 *
 * @param first the first page of the list, already read
 */
export async function* exportList(
  first: IteratorResult<RowPage, void>,
  rest: ReturnType<ExportedList['read']>,
  format: ExportFormat,
  bounds: ExportBounds,
): AsyncGenerator<string> {
  const startedAt = performance.now();
  let written = 0;
  let isUnsearched = false;
  let next: string | null = null;
  const reason = (): string | null => {
    if (next === null) return isUnsearched ? 'Not all unfinished jobs were searched for these words.' : null;
    if (written >= bounds.maxRows) return `The limit is ${bounds.maxRows.toLocaleString('en-US')} rows.`;
    if (performance.now() - startedAt > bounds.maxMs) return `The limit is ${bounds.maxMs / 1_000} seconds.`;
    return bounds.closing?.aborted === true ? 'The dashboard was shut down.' : null;
  };
  yield format.head;
  let incomplete: Incomplete | null = null;
  try {
    for (let read = first; read.done !== true && incomplete === null;) {
      const page = read.value;
      next = page.next;
      isUnsearched ||= page.isUnsearched === true;
      yield format.rows(page.rows, written === 0);
      written += page.rows.length;
      const why = reason();
      if (why !== null) incomplete = { why, after: next };
      else {
        const askedAt = performance.now();
        read = await rest.next();
        if (read.done !== true) await setTimeout(performance.now() - askedAt);
      }
    }
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) bounds.onError(error);
    incomplete = { why: 'The storage did not respond.', after: next };
  }
  yield format.tail(incomplete);
}
