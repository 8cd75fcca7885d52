/** Repeated submissions within this time, in milliseconds, count as double clicks. */
const MEMORY_MS = 10_000;

/**
 * Carries out the action of a form once, even if the form is submitted several times in quick succession with the same
 * token. After a failure, the form can be submitted again.
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
