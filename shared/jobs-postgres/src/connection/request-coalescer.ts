/**
 * Lets simultaneous calls share one read. The read starts after the last of these calls, so each sees everything written
 * before it was made.
 */
export class RequestCoalescer {
  readonly #reads = new Map<string, Promise<unknown>>();

  /** @param key always stands for the same read with the same result type */
  share<Result>(key: string, read: () => Promise<Result>): Promise<Result> {
    const known = this.#reads.get(key);
    if (known !== undefined) return known as Promise<Result>;
    const shared = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#reads.delete(key);
      return read();
    });
    this.#reads.set(key, shared);
    return shared;
  }
}
