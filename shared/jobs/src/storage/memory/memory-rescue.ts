import type { RescueReport } from '../storage.js';
import { endAttempt, type JobRecord, letGo, lostError } from './job-record.js';
import type { MemoryJobs } from './memory-jobs.js';
import type { MemoryServers } from './memory-servers.js';
import { aboutJob, type MemorySetAside } from './memory-set-aside.js';
import { byPlaceInLine } from './ready-line.js';

/** Declares silent servers dead and takes jobs back whose claim is lost. */
export function rescueJobs(
  jobs: MemoryJobs,
  servers: MemoryServers,
  setAside: MemorySetAside,
  now: number,
): RescueReport {
  const deadServers = servers.bury();
  const report = { deadServers, released: 0, failed: 0 };
  const lost = [...jobs.all()].filter(
    ({ state, serverId, leaseUntil }) =>
      state === 'processing' && (leaseUntil < now || !servers.isAlive(serverId ?? '')),
  );
  for (const { record, started } of inClaimOrder(lost, servers)) {
    const end = setAside.attempt(aboutJob('rescuer', record), () => takeBack(jobs, record, started, now));
    if (end !== undefined) report[end]++;
  }
  return report;
}

/** A server starts jobs in the order in which it claimed them, so only its first ones can have been running. */
function inClaimOrder(
  lost: readonly JobRecord[],
  servers: MemoryServers,
): { record: JobRecord; started: boolean }[] {
  const places = new Map<string | null, number>();
  return lost
    .toSorted(
      (one, other) =>
        (one.startedAt?.getTime() ?? 0) - (other.startedAt?.getTime() ?? 0) || byPlaceInLine(one, other),
    )
    .map((record) => {
      const place = (places.get(record.serverId) ?? 0) + 1;
      places.set(record.serverId, place);
      return { record, started: place <= servers.concurrencyOf(record.serverId) };
    });
}

function takeBack(jobs: MemoryJobs, record: JobRecord, started: boolean, now: number): 'released' | 'failed' {
  if (record.cancelRequested || record.attempt >= record.maxAttempts) {
    record.error = lostError(record);
    jobs.finish(record, record.cancelRequested ? 'cancelled' : 'failed');
    return 'failed';
  }
  if (!started) {
    letGo(record);
    jobs.makeReady(record, 'released');
    return 'released';
  }
  endAttempt(record, 'lost', lostError(record), now);
  jobs.makeReady(record, 'lost');
  return 'released';
}
