import { createHash } from 'node:crypto';
import type { ApiRequest } from '../request/request.js';

/** So many are remembered. */
const remembered = 10_000;

/**
 * Whose the credentials were that requests came with, by their digests: a caller beyond its limit is refused without a look at
 * who it is. Says nothing about whether they are still valid.
 */
export class KnownCredentials {
  /** The one that was learnt first stands first. */
  readonly #callers = new Map<string, string>();

  callerOf(request: ApiRequest): string | undefined {
    return this.#callers.get(digestOf(request));
  }

  learn(request: ApiRequest, caller: string): void {
    const digest = digestOf(request);
    if (this.#callers.get(digest) === caller) return;
    this.#callers.set(digest, caller);
    const [first] = this.#callers.keys();
    if (this.#callers.size > remembered && first !== undefined) this.#callers.delete(first);
  }

  forget(request: ApiRequest): void {
    this.#callers.delete(digestOf(request));
  }
}

function digestOf({ headers }: ApiRequest): string {
  const given = JSON.stringify([headers['authorization'], headers['x-api-key']]);
  return createHash('sha256').update(given).digest('base64');
}
