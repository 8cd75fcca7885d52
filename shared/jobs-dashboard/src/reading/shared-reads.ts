import type { JobReader } from '@longshore/jobs';

const MAX_ENTRIES = 500;

interface Entry {
  readonly value: Promise<unknown>;
  readonly expiresAtMs: number;
}

/**
 * One snapshot for all viewers of this process: the same read within `ttlMs` milliseconds reaches the storage once,
 * however many pages ask for it. Failures are not kept.
 */
export function shareReads(reader: JobReader, ttlMs: number, now: () => number = Date.now): JobReader {
  const entries = new Map<string, Entry>();

  const share = <T>(read: () => Promise<T>, ...key: unknown[]): Promise<T> => {
    const name = JSON.stringify(key);
    const known = entries.get(name);
    if (known !== undefined && known.expiresAtMs > now()) return known.value as Promise<T>;
    const value = read();
    const entry: Entry = { value, expiresAtMs: now() + ttlMs };
    value.catch(() => {
      if (entries.get(name) === entry) entries.delete(name);
    });
    entries.delete(name);
    entries.set(name, entry);
    if (entries.size > MAX_ENTRIES) forgetOldest(entries);
    return value;
  };

  return {
    findJob: (id) => share(() => reader.findJob(id), 'job', id),
    listJobs: (query) => share(() => reader.listJobs(query), 'jobs', query),
    countJobs: (filter) => share(() => reader.countJobs(filter), 'count', filter),
    stateCounts: () => share(() => reader.stateCounts(), 'states'),
    listAttempts: (jobId) => share(() => reader.listAttempts(jobId), 'attempts', jobId),
    listQueues: () => share(() => reader.listQueues(), 'queues'),
    listServers: () => share(() => reader.listServers(), 'servers'),
    ping: () => reader.ping(),
  };
}

function forgetOldest(entries: Map<string, Entry>): void {
  for (const name of entries.keys()) {
    entries.delete(name);
    return;
  }
}
