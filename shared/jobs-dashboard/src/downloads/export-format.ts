import { stringify } from 'csv-stringify/sync';
import type { DownloadFormat } from './attachment.js';
import type { Row } from './exported-list.js';

/** A note that an export ended before the list did. */
export interface Incomplete {
  /** The reason, as a sentence. */
  readonly why: string;
  /** The value for the parameter `after` that continues the list; `null` if the list cannot be continued. */
  readonly after: string | null;
}

/** Formats an export in parts: `head`, then `rows` once per page, then `tail`. */
export interface ExportFormat {
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
