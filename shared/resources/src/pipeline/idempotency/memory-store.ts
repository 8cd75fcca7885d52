import type { ApiResponse } from '../request/request.js';
import { type IdempotencyStore, keptForMs } from './store.js';

interface Entry {
  readonly fingerprint: string;
  readonly response: ApiResponse;
  readonly expiresAt: number;
}

/** An idempotency store for a single process; lost at restart, as is what such a process keeps. */
export function memoryIdempotencyStore(now: () => number = Date.now): IdempotencyStore {
  // In the order of expiry: the first entries are the oldest.
  const entries = new Map<string, Entry>();
  /** The fingerprints of the requests that are being performed, by key. */
  const running = new Map<string, string>();

  const forgetExpired = (): void => {
    for (const [key, { expiresAt }] of entries) {
      if (expiresAt > now()) return;
      entries.delete(key);
    }
  };

  return {
    async perform({ key, fingerprint }, act) {
      forgetExpired();
      const entry = entries.get(key);
      const known = entry?.fingerprint ?? running.get(key);
      if (known !== undefined && known !== fingerprint) return { kind: 'other-request' };
      if (entry !== undefined) return { kind: 'answered', response: entry.response };
      if (known !== undefined) return { kind: 'running' };
      running.set(key, fingerprint);
      try {
        const answers = await act(undefined);
        entries.set(key, { fingerprint, response: answers.kept, expiresAt: now() + keptForMs });
        return { kind: 'answered', response: answers.now };
      } finally {
        running.delete(key);
      }
    },
  };
}
