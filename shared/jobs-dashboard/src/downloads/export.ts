import { setTimeout } from 'node:timers/promises';
import { StorageUnavailableError } from '@longshore/jobs';
import { stringify } from 'csv-stringify/sync';
import type { Context } from 'koa';
import type { ExportedList, Row, RowPage } from './exported-list.js';

/** The limits of an export. An export that reaches one of them ends even if the list continues. */
interface ExportBounds {
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
  pages: ReturnType<ExportedList['read']>,
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
        read = await pages.next();
        if (read.done !== true) await setTimeout(performance.now() - askedAt);
      }
    }
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) bounds.onError(error);
    incomplete = { why: 'The storage did not respond.', after: next };
  }
  yield format.tail(incomplete);
}

/** A note that an export ended before the list did. */
interface Incomplete {
  /** The reason, as a sentence. */
  readonly why: string;
  /** The value for the parameter `after` that continues the list; `null` if the list cannot be continued. */
  readonly after: string | null;
}

/** Formats an export in parts: `head`, then `rows` once per page, then `tail`. */
interface ExportFormat {
  readonly head: string;
  readonly rows: (rows: readonly Row[], isFirst: boolean) => string;
  /** @param incomplete `null` if the whole list was exported */
  readonly tail: (incomplete: Incomplete | null) => string;
}

export const exportFormats: Readonly<Record<DownloadFormat, (columns: readonly string[]) => ExportFormat>> = {
  csv: asCsv,
  json: asJson,
};

/**
 * Formats rows as CSV (RFC 4180). The text begins with a byte order mark, because Excel otherwise does not recognize
 * UTF-8.
 */
function asCsv(columns: readonly string[]): ExportFormat {
  const line = (records: readonly (readonly unknown[])[]): string =>
    stringify([...records], {
      // Puts an apostrophe before cells that a spreadsheet would evaluate as a formula (OWASP, “CSV Injection”).
      escape_formulas: true,
      record_delimiter: 'windows',
      cast: { date: (at) => at.toISOString(), boolean: String },
    });
  return {
    head: `\uFEFF${line([columns])}`,
    rows: (rows) => line(rows.map((row) => columns.map((column) => row[column]))),
    tail: (incomplete) =>
      incomplete === null ? '' : line([[`Incomplete: ${incomplete.why}${continued(incomplete.after)}`]]),
  };
}

function continued(after: string | null): string {
  return after === null ? '' : ` Continue with the parameter after=${after}`;
}

function asJson(columns: readonly string[]): ExportFormat {
  return {
    head: '{"rows":[',
    rows: (rows, isFirst) =>
      rows
        .map((row, index) => `${isFirst && index === 0 ? '' : ','}\n${JSON.stringify(picked(row, columns))}`)
        .join(''),
    tail: (incomplete) =>
      `\n],"complete":${incomplete === null},"incomplete":${JSON.stringify(incomplete)}}\n`,
  };
}

function picked(row: Row, columns: readonly string[]): object {
  return Object.fromEntries(columns.map((column) => [column, row[column] ?? null]));
}

const types = { csv: 'text/csv; charset=utf-8; header=present', json: 'application/json' } as const;

export type DownloadFormat = keyof typeof types;

/** Makes browsers save the response as a file instead of displaying it. Also sets the content type. */
export function attach(ctx: Context, filename: string, format: DownloadFormat): void {
  ctx.type = types[format];
  ctx.set('Content-Disposition', `attachment; filename="${filename}"`);
}
