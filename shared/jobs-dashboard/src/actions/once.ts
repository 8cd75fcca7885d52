/** A second press of a button comes within this time, or it is meant. */
const MEMORY_MS = 10_000;

/**
 * Does the same thing once, however often it is asked for at a stroke: a form that is sent twice, with one token, is one
 * wish. What failed may be tried again.
 */
export class Once<Result> {
  readonly #now: () => number;
  readonly #done = new Map<string, { readonly result: Promise<Result>; readonly at: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  do(key: string, act: () => Promise<Result>): Promise<Result> {
    this.#forget();
    const known = this.#done.get(key);
    if (known !== undefined) return known.result;
    const result = act();
    this.#done.set(key, { result, at: this.#now() });
    result.catch(() => this.#done.delete(key));
    return result;
  }

  #forget(): void {
    for (const [key, { at }] of this.#done) {
      if (this.#now() - at < MEMORY_MS) break;
      this.#done.delete(key);
    }
  }
}
