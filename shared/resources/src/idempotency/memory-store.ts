import type { ApiResponse } from '../request/request.js';
import { type IdempotencyStore, keptForMs, type Reservation, runningForMs } from './store.js';

interface Entry {
  readonly fingerprint: string;
  readonly response: ApiResponse | undefined;
  readonly expiresAt: number;
}

/** An idempotency store for a single process; lost at restart. */
export function memoryIdempotencyStore(now: () => number = Date.now): IdempotencyStore {
  // In the order of expiry, as far as it matters: the first entries are the oldest.
  const entries = new Map<string, Entry>();

  const forgetExpired = (): void => {
    for (const [key, { expiresAt }] of entries) {
      if (expiresAt > now()) return;
      entries.delete(key);
    }
  };

  return {
    async begin(key, fingerprint): Promise<Reservation> {
      forgetExpired();
      const entry = entries.get(key);
      if (entry === undefined || entry.expiresAt <= now()) {
        entries.set(key, { fingerprint, response: undefined, expiresAt: now() + runningForMs });
        return { kind: 'begun' };
      }
      if (entry.fingerprint !== fingerprint) return { kind: 'other-request' };
      return entry.response === undefined
        ? { kind: 'running' }
        : { kind: 'finished', response: entry.response };
    },
    async finish(key, response) {
      const fingerprint = entries.get(key)?.fingerprint;
      entries.delete(key);
      if (fingerprint !== undefined)
        entries.set(key, { fingerprint, response, expiresAt: now() + keptForMs });
    },
    async release(key) {
      entries.delete(key);
    },
  };
}
