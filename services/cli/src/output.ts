import { printable, shorten } from '@longshore/edge';

/** An object in a response, as parsed from JSON. */
export type Item = Readonly<Record<string, unknown>>;

/**
 * Writes a line, or several, to standard output. Shows control characters and changes of the direction of text, which
 * can come from jobs, as escapes, so that nothing foreign reaches the terminal raw.
 */
export function print(text: string): void {
  process.stdout.write(`${printable(text, '\n')}\n`);
}

/** Like {@link print}, for standard error. */
export function printError(text: string): void {
  process.stderr.write(`${printable(text, '\n')}\n`);
}

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

const barWidth = 30;

/** A progress bar on the last line of a terminal; draws nothing if the stream is not a terminal. */
export class ProgressBar {
  readonly #stream: NodeJS.WriteStream;
  #bar = '';

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  /** Draws the bar for `percent` (0 to 100), replacing the previous one. */
  draw(percent: number, message: string | null): void {
    const full = Math.round((percent / 100) * barWidth);
    const bar = '█'.repeat(full) + '░'.repeat(barWidth - full);
    // Truncated to one line, because a wrapped line cannot be redrawn in place.
    const line = printable(`${bar} ${Math.round(percent)} % ${message ?? ''}`);
    this.#bar = shorten(line, this.#stream.columns - 1);
    this.#replaceBy(this.#bar);
  }

  /** Erases the bar, calls `write`, and redraws the bar below the new output. */
  writeAbove(write: () => void): void {
    this.#replaceBy('');
    write();
    this.#replaceBy(this.#bar);
  }

  remove(): void {
    this.#replaceBy('');
    this.#bar = '';
  }

  #replaceBy(text: string): void {
    if (this.#stream.isTTY && this.#bar !== '') this.#stream.write(`\r\u001B[K${text}`);
  }
}
