/**
 * Lets calls in the same turn of the event loop share one read. The read starts after the last of these calls, so each
 * caller's result includes everything that was written before the call.
 */
export class RequestCoalescer {
  readonly #reads = new Map<string, Promise<unknown>>();

  /** @param key identifies the read; calls with the same key must have the same result type */
  share<Result>(key: string, read: () => Promise<Result>): Promise<Result> {
    const pendingRead = this.#reads.get(key);
    if (pendingRead !== undefined) return pendingRead as Promise<Result>;
    const shared = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#reads.delete(key);
      return read();
    });
    this.#reads.set(key, shared);
    return shared;
  }
}
