import type { ApiResponse } from '../request/request.js';
import { type IdempotencyStore, keptForMs } from './store.js';

interface Entry {
  readonly fingerprint: string;
  readonly response: ApiResponse;
  readonly expiresAt: number;
}

/** Creates an idempotency store for a single process; its records are lost at restart. */
export function memoryIdempotencyStore(now: () => number = Date.now): IdempotencyStore {
  /** Oldest first. */
  const entries = new Map<string, Entry>();
  /** The fingerprints of requests in progress, by key. */
  const running = new Map<string, string>();

  const deleteExpired = (): void => {
    for (const [key, { expiresAt }] of entries) {
      if (expiresAt > now()) return;
      entries.delete(key);
    }
  };

  return {
    async perform({ key, fingerprint }, act) {
      deleteExpired();
      const entry = entries.get(key);
      const known = entry?.fingerprint ?? running.get(key);
      if (known !== undefined && known !== fingerprint) return { kind: 'other-request' };
      if (entry !== undefined) return { kind: 'answered', response: entry.response };
      if (known !== undefined) return { kind: 'running' };
      running.set(key, fingerprint);
      try {
        const { response, record } = await act(undefined);
        entries.set(key, { fingerprint, response: record, expiresAt: now() + keptForMs });
        return { kind: 'answered', response };
      } finally {
        running.delete(key);
      }
    },
  };
}
