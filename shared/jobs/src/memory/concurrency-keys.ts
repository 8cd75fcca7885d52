import type { JobRecord } from './job-record.js';
import { ReadyLine } from './ready-line.js';

interface KeyRecord {
  /** Ready or running. */
  readonly inside: Set<JobRecord>;
  readonly held: ReadyLine;
}

/** The jobs of one queue that share concurrency keys: which are ready or running, and which are held back. */
export class ConcurrencyKeys {
  readonly #keys = new Map<string, KeyRecord>();

  /** A job has become ready. Returns the jobs that may join the line now; it is held back if it is not among them. */
  arrive(job: JobRecord): JobRecord[] {
    const name = job.meta?.concurrencyKey;
    if (name === undefined) return [job];
    let key = this.#keys.get(name);
    if (key === undefined) this.#keys.set(name, (key = { inside: new Set(), held: new ReadyLine() }));
    if (key.inside.has(job)) return [job]; // given back, it keeps its place
    key.held.add(job);
    job.held = true;
    return admit(key);
  }

  /** A job is neither ready nor running any longer. Returns the jobs that may join the line now. */
  leave(job: JobRecord): JobRecord[] {
    const name = job.meta?.concurrencyKey;
    const key = name === undefined ? undefined : this.#keys.get(name);
    if (name === undefined || !key?.inside.delete(job)) return [];
    const admitted = admit(key);
    if (key.inside.size === 0 && key.held.length === 0) this.#keys.delete(name);
    return admitted;
  }

  /** Forgets a job that is held back. Returns `false` if it is not. */
  forget(job: JobRecord): boolean {
    const key = this.#keys.get(job.meta?.concurrencyKey ?? '');
    if (key === undefined || key.inside.has(job)) return false;
    key.held.remove(job);
    return true;
  }
}

/** The job next in line waits until fewer than its own limit are inside. */
function admit({ inside, held }: KeyRecord): JobRecord[] {
  const admitted: JobRecord[] = [];
  for (let next = held.first; next !== undefined; next = held.first) {
    if (inside.size >= (next.meta?.concurrencyLimit ?? Infinity)) break;
    inside.add(next);
    next.held = false;
    admitted.push(...held.take(1, null));
  }
  return admitted;
}
