import type { Attempt, Job, JobDocuments, StateCounts } from '../job/job.js';
import { readMeta } from '../job/meta.js';
import { type JobState, jobStates } from '../job/state.js';
import { comparePlaces, type JobFilter, placeOf } from '../storage/job-filter.js';
import {
  type BriefJob,
  type BriefList,
  type BriefListQuery,
  type ContinuationPage,
  type Dependents,
  type FailurePosition,
  type FailureSearchQuery,
  type FindManyOptions,
  findOrphans,
  type FoundFailures,
  type JobCount,
  type JobListQuery,
  type JobPage,
  type JobPageQuery,
  type JobReader,
  type JobSearchPage,
  type JobSearchQuery,
  lastFailureIn,
  type LatestFailedQuery,
  maxBriefBytes,
  type Orphan,
  type SearchedRange,
  type SortedJobsPage,
  type SortedJobsQuery,
} from '../storage/job-reader.js';
import { spellingsInSlices, typosIn, wordsOf } from '@longshore/edge';
import { matcherOf, searchedArgs, searchedText, searchedTexts } from './job-matcher.js';
import { type JobRecord, toAttempts, toJob } from './job-record.js';
import type { MemoryJobs } from './memory-jobs.js';
import { skippedBecauseOf } from './skipped-jobs.js';
import type { MemoryServers } from './memory-servers.js';

/** Most queries scan all jobs, which is fast enough for the few kept in memory. */
export class MemoryJobReader implements JobReader {
  readonly #jobs: MemoryJobs;
  readonly #servers: MemoryServers;

  constructor(jobs: MemoryJobs, servers: MemoryServers) {
    this.#jobs = jobs;
    this.#servers = servers;
  }

  async find(id: string): Promise<Job | null> {
    const record = this.#jobs.find(id);
    return record === undefined ? null : toJob(record);
  }

  async findMany(ids: readonly string[], { results = false }: FindManyOptions = {}): Promise<Job[]> {
    const jobs = ids.flatMap((id) => this.#jobs.find(id) ?? []).map(toJob);
    return jobs.map((job) => (results ? { ...job, args: null } : withoutDocuments(job)));
  }

  async findDocuments(jobId: string): Promise<JobDocuments | null> {
    const record = this.#jobs.find(jobId);
    return record === undefined ? null : { args: record.args, result: record.result };
  }

  async list(query: JobListQuery): Promise<Job[]> {
    return this.#listed(query).map(toJob);
  }

  #listed({ filter = {}, order = 'newest', limit, offset = 0, after }: JobListQuery): JobRecord[] {
    const direction = order === 'newest' ? -1 : 1;
    return this.#matching(filter)
      .filter(({ id }) => after === undefined || compare(id, after) * direction > 0)
      .toSorted((left, right) => compare(left.id, right.id) * direction)
      .slice(offset, offset + limit);
  }

  async listPage({ documents, maxBytes, signal: _signal, ...query }: JobPageQuery): Promise<JobPage> {
    return pageWithin(maxBytes, await this.list(query), documents);
  }

  async listSorted({
    filter = {},
    order,
    reversed = false,
    after,
    limit,
    offset = 0,
    ...page
  }: SortedJobsQuery): Promise<SortedJobsPage> {
    const direction = reversed ? -1 : 1;
    const jobs = this.#matching(filter)
      .map((record) => ({ record, place: placeOf({ ...record, ...readMeta(record.meta) }, order) }))
      .filter(({ place }) => after === undefined || comparePlaces(place, after, order) * direction > 0)
      .toSorted((one, other) => comparePlaces(one.place, other.place, order) * direction)
      .slice(offset, offset + limit)
      .map(({ record }) => toJob(record));
    return { ...pageWithin(page.maxBytes, jobs, page.documents), partial: false };
  }

  async search({
    filter,
    order = 'best',
    limit,
    offset = 0,
    after,
    ...page
  }: JobSearchQuery): Promise<JobSearchPage> {
    const { q, ...exactFilter } = filter;
    const records = this.#matching(exactFilter);
    const typosOf = typosIn(await spellingsInSlices(wordsOf(q), records.flatMap(searchedTexts)));
    const found = records.flatMap((record) => {
      const typos = typosOf(searchedText(record, searchedArgs(record, filter)));
      return typos === undefined ? [] : [{ record, typos }];
    });
    const direction = order === 'oldest' ? 1 : -1;
    const jobs = found
      .filter(({ record }) => after === undefined || compare(record.id, after) * direction > 0)
      .toSorted(
        (one, other) =>
          (order === 'best' ? one.typos - other.typos : 0) ||
          compare(one.record.id, other.record.id) * direction,
      )
      .slice(offset, offset + limit)
      .map(({ record }) => toJob(record));
    return { ...pageWithin(page.maxBytes, jobs, page.documents), total: found.length, partial: false };
  }

  async listBrief({ reach: _reach, ...query }: BriefListQuery): Promise<BriefList> {
    return { jobs: this.#listed(query).map(toBrief), isComplete: true };
  }

  async listLatestFailed({ queue, after, limit }: LatestFailedQuery): Promise<BriefJob[]> {
    const filter = queue === undefined ? {} : { queue: [queue] };
    return this.#latestFailed(filter, after).slice(0, limit).map(toBrief);
  }

  async searchFailed({ filter, after, limit }: FailureSearchQuery): Promise<FoundFailures> {
    const jobs = this.#latestFailed(filter, after).slice(0, limit).map(toBrief);
    return { jobs, last: null };
  }

  #latestFailed(filter: JobFilter, after: FailurePosition | undefined): JobRecord[] {
    return this.#matching({ ...filter, state: ['failed'] })
      .filter(
        (record) =>
          after === undefined || byFailure({ id: after.id, finishedAt: after.failedAt }, record) < 0,
      )
      .toSorted(byFailure);
  }

  async searchedRange(): Promise<SearchedRange> {
    return { lastIds: {}, unfinished: [] };
  }

  async count(filter: JobFilter = {}): Promise<JobCount> {
    return { count: this.#matching(filter).length, exact: true };
  }

  async countByState(filter: JobFilter = {}): Promise<Record<JobState, JobCount>> {
    const counts = countStates(this.#matching(filter));
    const exact = jobStates.map((state) => [state, { count: counts[state], exact: true }] as const);
    return Object.fromEntries(exact) as Record<JobState, JobCount>;
  }

  async stateCounts(): Promise<StateCounts> {
    return countStates(this.#jobs.all());
  }

  async listAttempts(jobId: string): Promise<Attempt[]> {
    const record = this.#jobs.find(jobId);
    return record === undefined ? [] : toAttempts(record);
  }

  async listContinuations(id: string, page: ContinuationPage = {}): Promise<Job[]> {
    const { limit = 100, after = '', documents = true } = page;
    const jobs = [...this.#jobs.dependencies.dependentsOf(id.toLowerCase())]
      .toSorted(compare)
      .filter((child) => child > after)
      .flatMap((child) => this.#jobs.find(child) ?? [])
      .slice(0, limit)
      .map(toJob);
    return documents ? jobs : jobs.map(withoutDocuments);
  }

  async listDependents(ids: readonly string[], limit: number): Promise<Dependents[]> {
    return ids.flatMap((id) => {
      const dependents = [...this.#jobs.dependencies.dependentsOf(id.toLowerCase())].toSorted(compare);
      return dependents.length === 0 ? [] : { parentId: id, ids: dependents.slice(0, limit) };
    });
  }

  async countSkipped(ids: readonly string[]): Promise<JobCount> {
    return { count: skippedBecauseOf(ids, this.#jobs).length, exact: true };
  }

  async listOrphans(): Promise<Orphan[]> {
    const waiting = new Map<string, { queue: string; name: string; jobs: number }>();
    for (const { state, queue, name } of this.#jobs.all()) {
      if (state !== 'enqueued' && state !== 'scheduled') continue;
      const key = JSON.stringify([queue, name]);
      const group = waiting.get(key) ?? { queue, name, jobs: 0 };
      waiting.set(key, group);
      group.jobs++;
    }
    return findOrphans([...waiting.values()], this.#servers.all());
  }

  #matching(filter: JobFilter): JobRecord[] {
    return [...this.#jobs.all()].filter(matcherOf(filter));
  }
}

/**
 * Cuts the list of jobs so that their arguments and results take at most `maxBytes` in total. Always keeps the first
 * job. If `documents` is `false`, keeps all jobs but sets their arguments and results to `null`.
 */
function pageWithin(maxBytes: number, jobs: Job[], documents = true): JobPage {
  if (!documents) return { jobs: jobs.map(withoutDocuments), cut: false };
  let bytes = 0;
  const end = jobs.findIndex(({ args, result }, index) => {
    bytes += Buffer.byteLength(JSON.stringify(args)) + Buffer.byteLength(JSON.stringify(result));
    return bytes > maxBytes && index > 0;
  });
  return end < 0 ? { jobs, cut: false } : { jobs: jobs.slice(0, end), cut: true };
}

type Failure = Pick<JobRecord, 'id' | 'finishedAt'>;

/** Compares two failed jobs, to sort by time of failure (latest first) and then by descending id. */
function byFailure(one: Failure, other: Failure): number {
  const failedAt = ({ finishedAt }: Failure): number => finishedAt?.getTime() ?? 0;
  return failedAt(other) - failedAt(one) || compare(other.id, one.id);
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

export function countStates(records: Iterable<JobRecord>): StateCounts {
  const counts = Object.fromEntries(jobStates.map((state) => [state, 0])) as StateCounts;
  for (const { state } of records) counts[state]++;
  return counts;
}

function toBrief(record: JobRecord): BriefJob {
  const job = toJob(record);
  const argsOmitted = Buffer.byteLength(JSON.stringify(job.args)) > maxBriefBytes;
  const lastFailure = lastFailureIn(toAttempts(record));
  return { ...job, args: argsOmitted ? null : job.args, result: null, argsOmitted, lastFailure };
}

function withoutDocuments(job: Job): Job {
  return { ...job, args: null, result: null };
}
