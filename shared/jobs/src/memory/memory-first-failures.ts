import { errorFingerprint } from '../job/error-fingerprint.js';
import type { JobError } from '../job/job.js';
import { errorKindsKept } from '../storage/job-statistics.js';

interface Occurrence {
  readonly firstAt: Date;
  readonly lastMs: number;
}

/**
 * Records when jobs of each name first failed with each kind of error. Deletes the least recently seen kinds beyond the
 * limits in {@link errorKindsKept}.
 */
export class MemoryFirstFailures {
  /** First and last occurrences by job name and error fingerprint, least recently seen first. */
  readonly #kinds = new Map<string, Occurrence>();

  note(name: string, error: JobError, at: Date): void {
    const key = keyOf(name, errorFingerprint(error));
    const lastMs = at.getTime();
    const firstAt = this.#kinds.get(key)?.firstAt ?? at;
    this.#kinds.delete(key);
    this.#kinds.set(key, { firstAt, lastMs });
    const oldestMs = lastMs - errorKindsKept.days * 86_400_000;
    for (const [oldest, { lastMs: seenMs }] of this.#kinds) {
      if (this.#kinds.size <= errorKindsKept.max && seenMs >= oldestMs) break;
      this.#kinds.delete(oldest);
    }
  }

  find({ name, fingerprint }: { readonly name: string; readonly fingerprint: string }): Date | undefined {
    return this.#kinds.get(keyOf(name, fingerprint))?.firstAt;
  }
}

function keyOf(name: string, fingerprint: string): string {
  return `${name}\n${fingerprint}`;
}
