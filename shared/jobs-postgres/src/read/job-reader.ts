import type { Job, JobState, TransactionClient } from '@longshore/jobs';
import {
  type Attempt,
  type BriefJob,
  type BriefList,
  type BriefListQuery,
  type ContinuationPage,
  type Dependents,
  type FailureSearchQuery,
  type FindManyOptions,
  type FinishedState,
  finishedStates,
  type FoundFailures,
  isFinished,
  isId,
  type JobCount,
  type JobDocuments,
  type JobFilter,
  type JobListQuery,
  type JobPage,
  type JobPageQuery,
  type JobReader,
  type JobSearchPage,
  type JobSearchQuery,
  jobStates,
  lastFailureIn,
  type LatestFailedQuery,
  maxExamined,
  type Orphan,
  findOrphans,
  type SearchedRange,
  type SearchedRangeQuery,
  type SearchReach,
  type SortedJobsPage,
  type SortedJobsQuery,
  type StateCounts,
} from '@longshore/jobs/storage';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import type { DatabaseClock } from '../connection/database-clock.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import { runInCallersTransaction } from '../connection/run.js';
import { RequestCoalescer } from '../connection/request-coalescer.js';
import { selectDependents, selectDependentsOfEach } from '../jobs/dependencies.sql.js';
import { countSkipped } from '../dependencies/skipped-jobs.js';
import { selectServers, type ServerRow, toServer } from '../servers/servers.sql.js';
import {
  findBareJobs,
  findJobResults,
  findJobs,
  type ListedDocuments,
  type PartialRow,
  withDocuments,
} from '../jobs/job-documents.js';
import { findRowOn, type JobRow, toAttempts, toJob } from '../jobs/job-row.js';
import { LocationCache } from '../jobs/location-cache.js';
import { countOf, maxCounted, noCounts, type PostgresCounters } from '../queues/counters.js';
import { countJobs, countJobsByState, coversUnfinished, listJobs, listNearJobs } from './list-jobs.sql.js';
import { type DocumentsRow, findDocuments, findJob, selectWaitingNames } from '../jobs/find-jobs.sql.js';
import { isCounted, statesOf } from '../jobs/job-conditions.sql.js';
import type { Searches } from '../search/replica-searches.js';
import { noQueues, isText, type ListRequest, type SearchScope } from '../search/job-search.sql.js';
import { selectLastSearched } from '../search/search-history.sql.js';
import { rowsOfQueue } from '../search/search-stages.sql.js';
import { SortedJobs } from './sorted-jobs.js';
import { TextSearch } from '../search/text-search.js';
import {
  type FailureRow,
  searchFailures,
  selectEarlierFailed,
  selectEarlierFailedOf,
  selectLastFailures,
  selectLatestFailed,
  selectLatestFailedOf,
} from './failures.sql.js';

/** Maximum number of skipped dependents to count. */
const maxSkipped = 1_000;

interface JobReaderConnections {
  readonly database: Database;
  /** For queries of unpredictable cost. */
  readonly searches: Searches;
  /** For lookups of a single job by its id. */
  readonly lookups: Database;
}

type ListedRow = JobRow & PartialRow;

interface Listed {
  readonly rows: ListedRow[];
  /** Whether the search covered every job that could be on this page. */
  readonly isComplete: boolean;
}

/** Reads jobs. Expensive queries and lookups by id use separate connection pools. */
export class PostgresJobReader implements JobReader {
  readonly #database: Database;
  readonly #searches: Searches;
  readonly #clock: DatabaseClock;
  readonly #queues: QueueIdCache;
  readonly #counters: PostgresCounters;
  readonly #locator: LocationCache;
  readonly #coalescer = new RequestCoalescer();
  readonly #sorted: SortedJobs;
  readonly #texts: TextSearch;

  constructor(
    { database, searches, lookups }: JobReaderConnections,
    clock: DatabaseClock,
    queues: QueueIdCache,
    counters: PostgresCounters,
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#searches = searches;
    this.#queues = queues;
    this.#counters = counters;
    this.#locator = new LocationCache(lookups);
    this.#sorted = new SortedJobs(
      { database, searches },
      this.#locator,
      (filter) => this.#scopeOf(filter),
      (rows) => this.#toJobs(rows),
    );
    this.#texts = new TextSearch(
      database,
      searches,
      (filter) => this.#scopeOf(filter),
      (rows) => this.#toJobs(rows),
    );
  }

  async find(id: string, transaction?: TransactionClient): Promise<Job | null> {
    const row =
      transaction === undefined
        ? await this.findRow(id)
        : await findRowOn(runInCallersTransaction(transaction, this.#database.schema), id);
    const queues = transaction === undefined ? this.#queues : this.#queues.within(transaction);
    return row === undefined ? null : toJob(row, await queues.nameOf(row.queue_id));
  }

  async findMany(ids: readonly string[], { results = false }: FindManyOptions = {}): Promise<Job[]> {
    const valid = ids.filter(isId);
    if (valid.length === 0) return [];
    const find = results ? findJobResults : findBareJobs;
    return this.#toJobs(await this.#database.query<JobRow>(find, [arrayOf(valid)]));
  }

  async findDocuments(jobId: string): Promise<JobDocuments | null> {
    if (!isId(jobId)) return null;
    const row = await this.#locator.find<DocumentsRow>(findDocuments, jobId);
    return row === undefined ? null : { args: row.args, result: row.result };
  }

  async listAttempts(jobId: string): Promise<Attempt[]> {
    const row = await this.findRow(jobId);
    return row === undefined ? [] : toAttempts(row);
  }

  async list(query: JobListQuery): Promise<Job[]> {
    return this.#toJobs((await this.#rowsOf(await this.#requestOf(query), 'all')).rows);
  }

  async listPage({ documents = true, maxBytes, signal, ...query }: JobPageQuery): Promise<JobPage> {
    const request = await this.#requestOf(query);
    const { rows } = await this.#rowsOf(request, documents ? 'small' : 'none', 'all', signal);
    const page = documents ? await withDocuments(this.#database, rows, maxBytes) : { rows, cut: false };
    return { jobs: await this.#toJobs(page.rows), cut: page.cut };
  }

  async listSorted(query: SortedJobsQuery): Promise<SortedJobsPage> {
    const page = await this.#sorted.page(query);
    const isPart = !page.partial && (await this.#partlySearched(query.filter ?? {})).size > 0;
    return isPart ? { ...page, partial: true } : page;
  }

  search(query: JobSearchQuery): Promise<JobSearchPage> {
    return this.#texts.page(query);
  }

  async listBrief({ reach = 'all', ...query }: BriefListQuery): Promise<BriefList> {
    const { rows, isComplete } = await this.#rowsOf(await this.#requestOf(query), 'brief', reach);
    return { jobs: await this.#toBriefJobs(rows), isComplete };
  }

  async listLatestFailed({ queue, after, limit }: LatestFailedQuery): Promise<BriefJob[]> {
    if (after !== undefined && !isId(after.id)) return [];
    const bounds = after === undefined ? [] : [after.id, after.failedAt];
    if (queue === undefined) {
      const all = after === undefined ? selectLatestFailed : selectEarlierFailed;
      return this.#toBriefJobs(await this.#database.query<ListedRow>(all, [limit, ...bounds]));
    }
    const [queueId] = await this.#queues.idsOf([queue]);
    if (queueId === undefined) return [];
    const ofQueue = after === undefined ? selectLatestFailedOf : selectEarlierFailedOf;
    return this.#toBriefJobs(await this.#database.query<ListedRow>(ofQueue, [limit, queueId, ...bounds]));
  }

  async searchFailed({ filter, after, limit, maxExamined: max }: FailureSearchQuery): Promise<FoundFailures> {
    const queueIds = await this.queueIds(filter);
    if ((after !== undefined && !isId(after.id)) || queueIds?.length === 0) return { jobs: [], last: null };
    const bound = after === undefined ? {} : { after };
    const now = await this.#clock.fresh();
    const { distribution } = this.#database.options;
    const search = { filter, queueIds, limit, maxExamined: max, now, distribution, ...bound };
    const query = searchFailures(search);
    const jobs = await this.#toBriefJobs(await this.#searches.query<ListedRow>(query, query.values));
    if (jobs.length === limit) return { jobs, last: null };
    const lasts = selectLastFailures(search);
    const [last, beyond] = await this.#searches.query<FailureRow>(lasts, lasts.values);
    if (last === undefined || beyond === undefined) return { jobs, last: null };
    return { jobs, last: { id: last.id, failedAt: last.finished_at } };
  }

  async listContinuations(id: string, page: ContinuationPage = {}): Promise<Job[]> {
    const { limit = 100, after = '00000000-0000-0000-0000-000000000000', documents = true } = page;
    if (!isId(id)) return [];
    const children = await this.#database.query<{ id: string }>(selectDependents, [id, limit, after]);
    if (children.length === 0) return [];
    const find = documents ? findJobs : findBareJobs;
    const rows = await this.#database.query<JobRow>(find, [arrayOf(children.map((child) => child.id))]);
    return this.#toJobs(rows);
  }

  listDependents(ids: readonly string[], limit: number): Promise<Dependents[]> {
    return this.#database.query(selectDependentsOfEach, [arrayOf(ids.filter(isId)), limit]);
  }

  async searchedRange({ filter, ...position }: SearchedRangeQuery): Promise<SearchedRange> {
    if (!isText(filter)) return { lastIds: {}, unfinished: [] };
    const request = await this.#requestOf({ filter, limit: 1, ...position });
    const query = selectLastSearched(request);
    const rows = await this.#searches.query<{ state: FinishedState; id: string }>(query, query.values);
    const { holding } = request;
    return {
      lastIds: Object.fromEntries(rows.map(({ state, id }) => [state, id])),
      unfinished: statesOf(filter).filter(
        (state) =>
          !isFinished(state) && state !== 'processing' && holding(state).jobs > rowsOfQueue(holding(state)),
      ),
    };
  }

  async count(filter: JobFilter = {}, signal?: AbortSignal): Promise<JobCount> {
    if (isCounted(filter)) {
      const counts = await this.#counted(filter);
      return { count: statesOf(filter).reduce((sum, state) => sum + counts[state], 0), exact: true };
    }
    const query = countJobs(await this.#scopeOf(filter), maxCounted);
    const [row] = await this.#searches.query<{ jobs: number }>(query, query.values, signal);
    const { count, exact } = countOf(row?.jobs ?? 0);
    return { count, exact: exact && (await this.#partlySearched(filter)).size === 0 };
  }

  async countByState(filter: JobFilter = {}): Promise<Record<JobState, JobCount>> {
    const counts = Object.fromEntries(jobStates.map((state) => [state, countOf(0)])) as Record<
      JobState,
      JobCount
    >;
    if (isCounted(filter)) {
      const counted = await this.#counted(filter);
      for (const state of statesOf(filter)) counts[state] = { count: counted[state], exact: true };
      return counts;
    }
    const query = countJobsByState(await this.#scopeOf(filter), maxCounted);
    const rows = await this.#searches.query<{ state: JobState; jobs: number }>(query, query.values);
    for (const { state, jobs } of rows) counts[state] = countOf(jobs);
    for (const state of await this.#partlySearched(filter))
      counts[state] = { count: counts[state].count, exact: false };
    return counts;
  }

  /** Returns the states in which only some of the jobs are searched for the filter's words. */
  async #partlySearched(filter: JobFilter): Promise<ReadonlySet<JobState>> {
    const { lastIds, unfinished } = await this.searchedRange({ filter });
    return new Set([...finishedStates.filter((state) => lastIds[state] !== undefined), ...unfinished]);
  }

  stateCounts(): Promise<StateCounts> {
    return this.#counters.totals();
  }

  async countSkipped(ids: readonly string[]): Promise<JobCount> {
    const jobIds = ids.filter(isId);
    if (jobIds.length === 0) return countOf(0);
    const rows = await this.#database.query<{ jobs: number }>(countSkipped, [
      arrayOf(jobIds),
      maxSkipped + 1,
    ]);
    const jobs = rows[0]?.jobs ?? 0;
    return { count: Math.min(jobs, maxSkipped), exact: jobs <= maxSkipped };
  }

  async listOrphans(): Promise<Orphan[]> {
    const [waiting, servers] = await Promise.all([
      this.#searches.query<{ queue: string; name: string; jobs: number }>(selectWaitingNames, [maxExamined]),
      this.#database.query<ServerRow>(selectServers),
    ]);
    return findOrphans(waiting, servers.map(toServer));
  }

  /** Returns a job's row; `undefined` if there is no such job. Concurrent calls for the same job share one query. */
  async findRow(id: string): Promise<JobRow | undefined> {
    if (!isId(id)) return undefined;
    return this.#coalescer.share(id, () => this.#locator.find<JobRow>(findJob, id));
  }

  async #rowsOf(
    request: ListRequest,
    documents: ListedDocuments,
    reach: SearchReach = 'all',
    signal?: AbortSignal,
  ): Promise<Listed> {
    if (reach === 'near' || (reach === 'all' && !isText(request.filter))) {
      const near = await this.#nearRows(request, documents);
      if (near.isComplete || reach === 'near') return near;
    }
    const whole = listJobs(request, documents);
    const rows = await this.#searches.query<ListedRow>(whole, whole.values, signal);
    return { rows, isComplete: true };
  }

  async #nearRows(request: ListRequest, documents: ListedDocuments): Promise<Listed> {
    const query = listNearJobs(request, documents);
    const rows = await this.#database.query<ListedRow & { complete: boolean }>(query, query.values);
    const isComplete = (rows[0]?.complete ?? true) && coversUnfinished(request);
    return { rows: rows.filter(({ id }) => id !== null), isComplete };
  }

  async #requestOf({
    filter = {},
    order = 'newest',
    limit,
    offset = 0,
    after,
  }: JobListQuery): Promise<ListRequest> {
    return { ...(await this.#scopeOf(filter)), newestFirst: order === 'newest', limit, offset, after };
  }

  async #scopeOf(filter: JobFilter): Promise<SearchScope> {
    const queueIds = await this.queueIds(filter);
    const unfinished = statesOf(filter).filter((state) => !isFinished(state));
    const holding = await this.#counters.holding(unfinished, queueIds);
    return {
      filter,
      now: await this.#clock.fresh(),
      queueIds,
      holding: (state) => holding.get(state) ?? noQueues,
      distribution: this.#database.options.distribution,
    };
  }

  async #counted(filter: JobFilter): Promise<StateCounts> {
    const queueIds = await this.queueIds(filter);
    if (queueIds === undefined) return this.#counters.totals();
    const counts = noCounts();
    for (const ofQueue of (await this.#counters.byQueue(queueIds)).values())
      for (const state of jobStates) counts[state] += ofQueue[state];
    return counts;
  }

  async #toBriefJobs(rows: readonly ListedRow[]): Promise<BriefJob[]> {
    return Promise.all(
      rows.map(async (row) => ({
        ...toJob(row, await this.#queues.nameOf(row.queue_id)),
        argsOmitted: row.args_left_out,
        lastFailure: lastFailureIn(toAttempts(row)),
      })),
    );
  }

  #toJobs(rows: readonly JobRow[]): Promise<Job[]> {
    return Promise.all(rows.map(async (row) => toJob(row, await this.#queues.nameOf(row.queue_id))));
  }

  /** Returns each queue's number of jobs in each state, by queue id. */
  counts(): Promise<ReadonlyMap<number, StateCounts>> {
    return this.#counters.byQueue();
  }

  /**
   * Returns the ids of the queues that a filter names; `undefined` if it names none. Queues that do not exist are left
   * out.
   */
  async queueIds({ queue: names }: JobFilter): Promise<number[] | undefined> {
    if (names === undefined || names.length === 0) return undefined;
    return this.#queues.idsOf([...new Set(names)]);
  }
}
