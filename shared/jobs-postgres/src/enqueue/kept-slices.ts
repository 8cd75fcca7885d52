import type { NewJob } from '@longshore/jobs/storage';

/** The slices of a call that have been built so far, kept so that they can be read again. */
export class KeptSlices {
  readonly #source: AsyncIterator<readonly NewJob[]>;
  readonly #slices: (readonly NewJob[])[] = [];
  #isComplete = false;
  #failure: { readonly error: unknown } | null = null;

  constructor(source: AsyncIterable<readonly NewJob[]>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** All slices built so far. */
  get slices(): readonly (readonly NewJob[])[] {
    return this.#slices;
  }

  /** The error with which building a slice failed; `null` if none has failed. */
  get failure(): { readonly error: unknown } | null {
    return this.#failure;
  }

  /** Yields all slices, from the first one, building those that have not been built yet. */
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
