import { printable, shorten } from '@longshore/edge';

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
