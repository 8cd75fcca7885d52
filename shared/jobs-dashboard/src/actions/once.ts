/** A submission that is repeated within this time, in milliseconds, counts as a double click. */
const MEMORY_MS = 10_000;

/**
 * Carries out the action of a form only once, even if the same form is submitted several times in quick succession.
 * After a failure, the form can be submitted again.
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
