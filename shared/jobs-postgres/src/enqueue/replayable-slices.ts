import type { NewJob } from '@longshore/jobs/storage';

/**
 * The jobs of one enqueue call, in slices. Reads slices from the source on demand and keeps them, so that the call can
 * start over.
 */
export class ReplayableSlices {
  readonly #source: AsyncIterator<readonly NewJob[]>;
  readonly #slices: (readonly NewJob[])[] = [];
  #isComplete = false;
  #failure: { readonly error: unknown } | null = null;

  constructor(source: AsyncIterable<readonly NewJob[]>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** All slices read so far. */
  get slices(): readonly (readonly NewJob[])[] {
    return this.#slices;
  }

  /** The error that the source threw while building a slice; `null` if the source has not thrown. */
  get failure(): { readonly error: unknown } | null {
    return this.#failure;
  }

  /** Yields all slices: first those read so far, then the rest of the source, one by one. */
  async *read(): AsyncGenerator<readonly NewJob[]> {
    for (let index = 0; await this.#has(index); index++) yield this.#slices[index] ?? [];
  }

  async #has(index: number): Promise<boolean> {
    if (index < this.#slices.length) return true;
    if (this.#isComplete) return false;
    try {
      const next = await this.#source.next();
      if (next.done === true) this.#isComplete = true;
      else this.#slices.push(next.value);
      return !this.#isComplete;
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}
