import type { Claim } from '../job/job.js';
import type { LogLine } from '../job/job-log.js';
import { maxListedTransitions, type Transition } from '../job/transition.js';
import type { Clock } from '../job/clock.js';
import type { JobReport, JobReports, LogQuery } from '../storage/job-reports.js';
import { linesOf, storeReport } from './job-log.js';
import type { MemoryJobs } from './memory-jobs.js';

export class MemoryReports implements JobReports {
  readonly #jobs: MemoryJobs;
  readonly #clock: Clock;

  constructor(jobs: MemoryJobs, clock: Clock) {
    this.#jobs = jobs;
    this.#clock = clock;
  }

  async report(reports: readonly JobReport[]): Promise<Claim[]> {
    const now = new Date(this.#clock.now());
    return reports
      .filter((report) => !storeReport(this.#jobs.find(report.claim.jobId), report, now))
      .map(({ claim }) => claim);
  }

  async listLogs(jobId: string, query: LogQuery = {}): Promise<LogLine[]> {
    return linesOf(this.#jobs.find(jobId), query);
  }

  async countLogs(jobId: string, query: Pick<LogQuery, 'attempt'> = {}): Promise<number> {
    return linesOf(this.#jobs.find(jobId), { ...query, limit: Infinity }).length;
  }

  async listTransitions(jobId: string, limit: number = maxListedTransitions): Promise<Transition[]> {
    const [created, ...others] = this.#jobs.find(jobId)?.transitions ?? [];
    return created === undefined ? [] : [created, ...others.slice(-(limit - 1))];
  }
}
