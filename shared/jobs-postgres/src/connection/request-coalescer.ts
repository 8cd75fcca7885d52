/**
 * Lets calls that are made at the same time share one read. It begins after the last of them, so that each sees all that
 * was written before it was made.
 */
export class RequestCoalescer {
  readonly #reads = new Map<string, Promise<unknown>>();

  /** Whoever uses a key must always mean the same read by it, of the same type. */
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
