import { printable, shorten } from '@longshore/edge';
import type { Item } from './installation.js';

/** Maximum width of a cell in characters; longer text is truncated. */
const maxWidth = 48;

/** Formats items as a table with one column per given field. */
export function table(items: readonly Item[], columns: readonly string[]): string {
  const rows = [
    columns.map((column) => column.replaceAll(/[A-Z]/g, ' $&').toUpperCase()),
    ...items.map((item) => columns.map((column) => cell(item[column]))),
  ];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Formats an item with one field per line. Omits fields that are `null` or an empty array. */
export function fields(item: Item): string {
  const shown = Object.entries(item).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  );
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${text(value)}`).join('\n');
}

function cell(value: unknown): string {
  const line = printable(text(value).replaceAll(/\s+/g, ' '));
  return line.length > maxWidth ? shorten(line, maxWidth - 1, '…') : line;
}

function text(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
