import { shorten } from '@longshore/edge';
import { type BriefJob, isId, type JobListQuery } from '@longshore/jobs/storage';
import { lastSearched } from '../reading/job-search.js';
import { filterQuery, queryFilters } from '../search/filters.js';
import {
  exportedJson,
  type ExportedList,
  type ExportSource,
  positionIn,
  type Row,
  type RowPage,
} from './exported-list.js';

const ROWS = 500;
const MAX_MESSAGE = 1_000;

/** Exports jobs, with all filters of the jobs page; newest first unless the parameter `order` is `oldest`. */
export const exportedJobs: ExportedList = {
  columns: [
    'id',
    'name',
    'queue',
    'state',
    'priority',
    'attempt',
    'maxAttempts',
    'timeoutMs',
    'createdAt',
    'runAt',
    'delayMs',
    'readyAt',
    'startedAt',
    'finishedAt',
    'error',
    'errorMessage',
    'tags',
    'batchId',
    'parentIds',
    'parentCondition',
    'recurringJobId',
    'enqueuedBy',
    'concurrencyKey',
    'concurrencyLimit',
    'concurrencyRate',
    'unique',
    'idempotencyKey',
    'version',
    'traceparent',
    'serverId',
    'args',
    'argsOmitted',
  ],
  read: readJobs,
};

async function* readJobs(
  query: URLSearchParams,
  { reader, nowMs, redact }: ExportSource,
): AsyncGenerator<RowPage> {
  const filters = queryFilters(query, redact);
  const hasWords = filters.terms.some(({ key }) => key === 'q');
  const order = query.get('order') === 'oldest' ? 'oldest' : 'newest';
  const list = { filter: filterQuery(filters, { nowMs, redact }), order } as const;
  let after = positionIn(query, isId);
  do {
    const position = after === null ? list : { ...list, after };
    const { jobs } = await reader.jobs.listBrief({ ...position, limit: ROWS });
    const next = jobs.length < ROWS ? null : (jobs.at(-1)?.id ?? null);
    const page = { jobs, next, isUnsearched: false };
    const { jobs: searchedJobs, ...cursor } = hasWords ? await searchedPart(page, position, reader) : page;
    yield { rows: searchedJobs.map((job) => rowOf(job, redact)), ...cursor };
    after = cursor.next;
  } while (after !== null);
}

/**
 * A word search can stop before it has covered the whole list. Removes the jobs beyond the part that is covered in
 * every finished state. The next page begins where this part ends, so that no match is skipped.
 */
async function searchedPart(
  { jobs, next }: { readonly jobs: readonly BriefJob[]; readonly next: string | null },
  { filter = {}, order = 'newest', after }: Pick<JobListQuery, 'filter' | 'order' | 'after'>,
  reader: ExportSource['reader'],
): Promise<{ jobs: readonly BriefJob[]; next: string | null; isUnsearched: boolean }> {
  const range = await reader.jobs.searchedRange({ filter, order, ...(after === undefined ? {} : { after }) });
  const isUnsearched = range.unfinished.length > 0;
  const last = lastSearched(range, order);
  const isWithin = (id: string): boolean => last === null || (order === 'newest' ? id >= last : id <= last);
  if (next !== null && isWithin(next)) return { jobs, next, isUnsearched };
  return { jobs: jobs.filter(({ id }) => isWithin(id)), next: last, isUnsearched };
}

function rowOf({ error, args, argsOmitted, ...job }: BriefJob, redact: RegExp): Row {
  return {
    id: job.id,
    name: job.name,
    queue: job.queue,
    state: job.state,
    priority: job.priority,
    attempt: job.attempt,
    maxAttempts: job.maxAttempts,
    timeoutMs: job.timeoutMs,
    createdAt: job.createdAt,
    runAt: job.runAt,
    delayMs: job.delayMs,
    readyAt: job.readyAt,
    startedAt: job.startedAt,
    finishedAt: job.finishedAt,
    error: error?.name ?? null,
    errorMessage: error === null ? null : shorten(error.message, MAX_MESSAGE, '…'),
    tags: job.tags,
    batchId: job.batchId,
    parentIds: job.parentIds,
    parentCondition: job.parentCondition,
    recurringJobId: job.recurringJobId,
    enqueuedBy: job.enqueuedBy,
    concurrencyKey: job.concurrencyKey,
    concurrencyLimit: job.concurrencyLimit,
    concurrencyRate: job.concurrencyRate,
    unique: job.unique && { ...job.unique, states: [...job.unique.states] },
    idempotencyKey: job.idempotencyKey,
    version: job.version,
    traceparent: job.traceparent,
    serverId: job.serverId,
    args: exportedJson(args, redact),
    argsOmitted,
  };
}
