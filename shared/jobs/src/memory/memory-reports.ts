import type { Claim, Job, JsonValue } from '../job/job.js';
import type { LogLine } from '../job/job-log.js';
import { maxListedTransitions, type Transition } from '../job/transition.js';
import type { Clock } from '../job/clock.js';
import type { JobLogLine, JobReport, JobReports, LogQuery } from '../storage/job-reports.js';
import type { MemoryJobs } from './memory-jobs.js';
import { hasLease, type JobRecord } from './job-record.js';

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

  async listLatestLogs(
    jobs: readonly Pick<Job, 'id' | 'queue' | 'createdAt'>[],
    limit: number,
  ): Promise<JobLogLine[]> {
    const lines = jobs.flatMap(({ id, queue }) => {
      const record = this.#jobs.find(id);
      const log = record?.queue === queue ? record.log.slice(-limit).toReversed() : [];
      return log.map((line): JobLogLine => ({ ...line, jobId: id }));
    });
    return lines.toSorted((one, other) => other.at.getTime() - one.at.getTime()).slice(0, limit);
  }

  async countLogs(jobId: string, query: Pick<LogQuery, 'attempt'> = {}): Promise<number> {
    return linesOf(this.#jobs.find(jobId), { ...query, limit: Infinity }).length;
  }

  async listTransitions(jobId: string, limit: number = maxListedTransitions): Promise<Transition[]> {
    const [created, ...laterTransitions] = this.#jobs.find(jobId)?.transitions ?? [];
    return created === undefined ? [] : [created, ...laterTransitions.slice(-(limit - 1))];
  }
}

/**
 * Stores a report and returns `true`. If the claim has lost the lease on the job, stores nothing and returns `false`.
 */
function storeReport(
  record: JobRecord | undefined,
  { claim, progress, lines }: JobReport,
  writtenAt: Date,
): boolean {
  if (!hasLease(record, claim)) return false;
  if (progress !== null && progress.at >= (record.progress?.at ?? progress.at))
    record.progress = { ...progress, writtenAt };
  const lineIds = new Set(record.log.map(({ id }) => id));
  for (const { line, at, level, message, fields } of lines) {
    const id = `${record.runs}.${line}`;
    if (lineIds.has(id)) continue;
    const parsed = fields === null ? null : (JSON.parse(fields) as { [key: string]: JsonValue });
    record.logWrittenAt.push(writtenAt);
    record.log.push({ id, attempt: claim.attempt, at, level, message, fields: parsed });
  }
  return true;
}

function linesOf(
  record: JobRecord | undefined,
  { attempt, after, limit = 100, offset = 0 }: LogQuery,
): LogLine[] {
  const log = record?.log ?? [];
  const start = after === undefined ? 0 : log.findIndex(({ id }) => id === after) + 1;
  return log
    .slice(start)
    .filter((line) => attempt === undefined || line.attempt === attempt)
    .slice(offset, offset + limit);
}
