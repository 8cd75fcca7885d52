import { type BulkOperation, type BulkState, isId } from '@longshore/jobs/storage';
import { bulkWords } from '../actions/bulk-words.js';
import { badRequest, notFound } from '../http/problem.js';
import { filterText } from '../search/search.js';
import { nothing, type Page, type PageContext, type PageRequest } from '../shell/page.js';
import { jobLine } from './job-row.js';
import { readRows } from './list-page.js';

const ROWS = 50;
/** Maximum number of jobs of a first step. */
const MAX_STEP = 10;

/**
 * Converts a bulk operation to a row of a list. An operation that was cancelled before it started is shown as undone.
 */
function bulkRow({ filter, action, ...facts }: BulkOperation): object {
  const { state, finishedAt, startsAt } = facts;
  const isUndone = state === 'cancelled' && finishedAt !== null && finishedAt < startsAt;
  return {
    ...facts,
    action,
    words: bulkWords[action],
    text: filterText(filter),
    shown: isUndone ? 'undone' : state,
  };
}

export async function bulkPage({ query }: PageRequest, { reader }: PageContext): Promise<Page> {
  const after = query.get('after');
  if (after !== null && !isId(after))
    throw badRequest('There is no such page of the list', `“${after}” is not the id of an operation.`);
  return {
    title: 'Bulk actions',
    section: 'jobs',
    view: 'page',
    kicker: { path: 'jobs', text: 'Jobs' },
    regions: [
      {
        name: 'bulk',
        view: 'bulk-list',
        everyMs: 2_000,
        load: async () => {
          const position = after === null ? {} : { after };
          const { rows, isComplete } = await readRows(ROWS, (limit) =>
            reader.bulk.list({ limit, ...position }),
          );
          return {
            operations: rows.map(bulkRow),
            order: 'newest',
            first: after === null ? null : 'bulk',
            next: isComplete ? null : `bulk?after=${rows.at(-1)?.id}`,
          };
        },
      },
    ],
  };
}

export async function bulkOperationPage({ params, query }: PageRequest, context: PageContext): Promise<Page> {
  const { id, action, state } = await findOperation(params['operation'] ?? '', context);
  const after = query.get('after');
  if (after !== null && !isId(after))
    throw badRequest('This page of the list does not exist', `“${after}” is not the id of a job.`);
  const everyMs = isEnded(state) ? 10_000 : 1_000;
  const others = query.get('others');
  return {
    title: bulkWords[action].title,
    section: 'jobs',
    view: 'page',
    kicker: { path: 'bulk', text: 'Bulk actions' },
    id,
    regions: [
      { name: 'operation', view: 'bulk-state', everyMs, load: () => loadOperation(id, context) },
      ...(others === null
        ? []
        : [{ name: 'step', view: 'bulk-step', everyMs: 2_000, load: () => loadStep(id, others, context) }]),
      {
        name: 'jobs',
        view: 'bulk-jobs',
        everyMs: 5 * everyMs,
        load: () => loadJobsOfOperation(id, after, context),
      },
    ],
  };
}

async function loadOperation(id: string, context: PageContext): Promise<object> {
  const { reader } = context;
  const [operation, servers] = await Promise.all([findOperation(id, context), reader.servers.list()]);
  const { matched, changed, skipped, state } = operation;
  // The storage does not count confirmed jobs that have since been removed. The page counts them as skipped.
  const missing = state === 'done' && matched?.exact === true ? matched.count - changed : 0;
  return {
    operation: { ...bulkRow(operation), skipped: Math.max(skipped, missing) },
    unserved: servers.length === 0,
  };
}

/**
 * Counts what became of the jobs of a first step.
 *
 * @param others the selection of the next step, as a query
 */
async function loadStep(id: string, others: string, { reader }: PageContext): Promise<object> {
  const { action, state } = await findOperation(id, { reader });
  const ids = await reader.bulk.listChanged(id, { limit: MAX_STEP });
  const { jobs } =
    ids.length === 0 ? { jobs: [] } : await reader.jobs.listBrief({ filter: { id: ids }, limit: MAX_STEP });
  const count = (wanted: readonly string[]): number =>
    jobs.filter((job) => wanted.includes(job.state) && !(job.state === 'scheduled' && job.error === null))
      .length;
  const [done, failed] = [count(['done']), count(['failed', 'cancelled', 'scheduled'])];
  const next = new URLSearchParams(others);
  next.set('action', action);
  return {
    done,
    failed,
    open: jobs.length - done - failed,
    isOver: isEnded(state) && jobs.length === done + failed,
    next: `bulk/confirm?${next.toString()}`,
  };
}

/** Reads the jobs that the operation has changed, newest first. For jobs that no longer exist, returns only the ids. */
async function loadJobsOfOperation(
  id: string,
  after: string | null,
  { reader, redact }: PageContext,
): Promise<object> {
  const { action } = await findOperation(id, { reader });
  const position = after === null ? {} : { after };
  const { rows: ids, isComplete } = await readRows(ROWS, (limit) =>
    reader.bulk.listChanged(id, { limit, ...position }),
  );
  if (ids.length === 0 && after === null) return nothing;
  const jobs =
    ids.length === 0 || action === 'delete'
      ? []
      : (await reader.jobs.listBrief({ filter: { id: ids }, limit: ROWS })).jobs;
  const jobIds = new Set(jobs.map((job) => job.id));
  return {
    words: bulkWords[action],
    jobs: jobs.map((job) => jobLine(job, redact)),
    deleted: ids.filter((changedId) => !jobIds.has(changedId)),
    order: 'newest',
    first: after === null ? null : `bulk/${id}`,
    next: isComplete ? null : `bulk/${id}?after=${ids.at(-1)}`,
  };
}

function isEnded(state: BulkState): boolean {
  return state !== 'running' && state !== 'pending';
}

async function findOperation(id: string, { reader }: Pick<PageContext, 'reader'>): Promise<BulkOperation> {
  const operation = await reader.bulk.find(id);
  if (operation !== null) return operation;
  throw notFound(
    'There is no such operation',
    `No operation has the id “${id}”. Operations are kept for 30 days.`,
  );
}
