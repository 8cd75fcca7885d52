import type { RescueReport } from '../storage.js';
import { endAttempt, type JobRecord, lostError } from './job-record.js';
import type { MemoryJobs } from './memory-jobs.js';
import type { MemoryServers } from './memory-servers.js';
import { aboutJob, type MemorySetAside } from './memory-set-aside.js';

/** Declares silent servers dead and takes jobs back whose claim is lost. */
export function rescueJobs(
  jobs: MemoryJobs,
  servers: MemoryServers,
  setAside: MemorySetAside,
  now: number,
): RescueReport {
  const deadServers = servers.bury();
  const report = { deadServers, released: 0, failed: 0 };
  for (const record of jobs.all()) {
    if (record.state !== 'processing' || record.serverId === null) continue;
    if (record.leaseUntil >= now && servers.isAlive(record.serverId)) continue;
    const end = setAside.attempt(aboutJob('rescuer', record), () => takeBack(jobs, record, now));
    if (end !== undefined) report[end]++;
  }
  return report;
}

function takeBack(jobs: MemoryJobs, record: JobRecord, now: number): 'released' | 'failed' {
  if (record.cancelRequested || record.attempt >= record.maxAttempts) {
    record.error = lostError(record);
    jobs.finish(record, record.cancelRequested ? 'cancelled' : 'failed');
    return 'failed';
  }
  endAttempt(record, 'lost', lostError(record), now);
  jobs.makeReady(record, 'lost');
  return 'released';
}
