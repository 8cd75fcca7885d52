import { setTimeout as pause } from 'node:timers/promises';
import { shorten } from '@longshore/edge';
import type { Job, JobStorage } from '@longshore/jobs';
import { bulkOperations, type OperableStorage } from '@longshore/jobs/operations';
import {
  bounds,
  bulkActions,
  type BulkOperation,
  type BulkOperations,
  type JobFilter,
} from '@longshore/jobs/storage';
import {
  defineResource,
  maxPageBytes,
  readOnly,
  type Resource,
  type Transaction,
} from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { createdAtOf, Id, Name, nullable, nullInExamples, text, Time, toTime } from './fields.js';
import { includesDocuments, jobFilters, toJobFilter } from './job-filters.js';
import { JobItem, toJobItem } from './job-item.js';
import { jobsBelow } from './job-lists.js';
import { served } from './operations.js';
import { maxCompared, seekPage, type StoragePage } from './seek.js';

const states = ['pending', 'running', 'done', 'cancelled', 'failed'] as const;

const BulkOperationItem = Type.Object({
  id: Id,
  action: Type.Enum([...bulkActions], { description: 'What it does to each job' }),
  filter: Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: {
      type: 'string',
      minLength: 0,
      maxLength: 100_000,
      pattern: String.raw`^[^\u0000]*$`,
    },
    description: 'What selects its jobs: the conditions by name, each as text',
  }),
  state: Type.Enum([...states], {
    description:
      '`pending` until `startsAt`; `running` while servers change jobs; `done`; `cancelled` if it was stopped; `failed` if a permanent error ended it. Jobs that it has changed stay changed',
  }),
  matched: nullable(
    Type.Integer({
      minimum: 0,
      description: 'The number of jobs that matched; null if they were not counted',
    }),
  ),
  isExact: Type.Boolean({ description: 'Whether `matched` is exact, rather than a lower bound' }),
  changed: Type.Integer({ minimum: 0, description: 'How many jobs it has changed so far' }),
  restored: Type.Integer({
    minimum: 0,
    description: 'How many dependents of retried jobs wait again, if it was asked to restore them',
  }),
  skipped: Type.Integer({
    minimum: 0,
    description: 'How many selected jobs it has left as they were, because they had ended, moved or gone',
  }),
  runAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'The new time of rescheduled jobs; null for other actions',
    }),
    nullInExamples,
  ),
  toName: nullable(
    Type.String({ ...Name, description: 'The new name of renamed jobs; null for other actions' }),
    nullInExamples,
  ),
  reason: nullable(text(bounds.reasonLength, 'Why the jobs are changed; null if no reason was given')),
  requestedBy: nullable(Type.String({ maxLength: 300, description: 'Who requested it; null if unknown' })),
  createdAt: Time,
  startsAt: Type.String({ format: 'date-time', description: 'Until then, it can be undone by `stop`' }),
  finishedAt: nullable(Time),
  error: nullable(text(bounds.errorMessage, 'What ended it; null if nothing did')),
});

const startedByJobs = 'Start one with PUT /jobs/{verb}.';
const record = 'It is a record of what was done; it is deleted 30 days after its end.';

/** `/bulk-operations`: the operations on many jobs, with their progress. */
export function bulkOperationsResource(
  storage: OperableStorage & Pick<JobStorage, 'jobs'>,
  requiresReason: boolean,
): Resource {
  const { bulk } = storage;
  const serving = { storage, requiresReason, toItem: toBulkOperationItem };
  const { declarations, functions } = served([bulkOperations.stop], serving);
  return defineResource({
    name: 'bulk-operations',
    description: 'Operations on many jobs, which servers carry out in the background.',
    item: BulkOperationItem,
    serverSet: Object.keys(BulkOperationItem.properties) as (keyof typeof BulkOperationItem.properties)[],
    sort: ['createdAt'],
    defaultSort: ['-createdAt'],
    search: [],
    operations: declarations,
    children: [{ resource: bulkJobsResource(storage) }],
    notAllowed: { ...readOnly(record), create: startedByJobs },
    storage: {
      seeks: true,
      list: async (query) => {
        const [page, counted] = await Promise.all([
          seekPage(query, async (part) => ({ rows: await bulk.list(part) })),
          query.count === 'none' ? undefined : bulk.count(),
        ]);
        const items = page.items.map(toBulkOperationItem);
        return { ...page, items, total: counted?.count, estimated: counted?.exact === false };
      },
      get: async (id) => {
        const operation = await bulk.find(id);
        return operation === null ? undefined : toBulkOperationItem(operation);
      },
      operations: functions,
    },
  });
}

export function toBulkOperationItem(operation: BulkOperation): Static<typeof BulkOperationItem> {
  const { id, action, filter, state, matched, changed, restored, skipped, requestedBy, error, reason } =
    operation;
  return {
    id,
    action,
    filter: textsOf(filter),
    state,
    matched: matched?.count ?? null,
    isExact: matched?.exact ?? false,
    changed,
    restored,
    skipped,
    runAt: toTime(operation.runAt),
    toName: operation.toName,
    reason,
    requestedBy,
    createdAt: createdAtOf(operation),
    startsAt: operation.startsAt.toISOString(),
    finishedAt: toTime(operation.finishedAt),
    error: error === null ? null : shorten(error, bounds.errorMessage.max),
  };
}

function textsOf({ redact: _redact, ...filter }: JobFilter): Readonly<Record<string, string>> {
  const texts = Object.entries(JSON.parse(JSON.stringify(filter)) as Record<string, unknown>).map(
    ([name, value]) => [name, isListOfTexts(value) ? value.join(',') : asText(value)] as const,
  );
  return Object.fromEntries(texts);
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((element) => typeof element === 'string');
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Interval between polls while a server works on the operation, in milliseconds. */
const pollMs = 20;

/**
 * Resolves to a bulk operation when it has ended. Carries it out together with the running servers, which complete it
 * if this process dies.
 *
 * @throws {Error} if the operation fails; changes made before the failure remain
 */
export async function endOf(bulk: BulkOperations, { id, action }: BulkOperation): Promise<BulkOperation> {
  for (;;) {
    const operation = await bulk.find(id);
    if (operation === null) throw new Error(`The bulk operation ${id} was started but cannot be found`);
    if (operation.state === 'failed')
      throw new Error(`The bulk operation ${action} failed: ${operation.error}`);
    if (operation.state !== 'running') return operation;
    if (!(await bulk.advance())) await pause(pollMs);
  }
}

/**
 * Carries out a bulk operation that was stored in a transaction, after the commit and in the background. If this process
 * dies, servers continue it.
 */
export function startAfterCommit(
  bulk: BulkOperations,
  operation: BulkOperation,
  transaction: Transaction,
): void {
  // Ignores a failure here, because the operation stores it.
  transaction.afterCommit(() => void endOf(bulk, operation).catch(() => undefined));
}

type Storage = Pick<JobStorage, 'bulk' | 'jobs'>;

/** `/bulk-operations/{id}/jobs`: the jobs that an operation on many jobs has changed so far, and that still exist. */
function bulkJobsResource(storage: Storage): Resource {
  return defineResource({
    name: 'jobs',
    singular: 'changed-job',
    description: 'The jobs that an operation on many jobs has changed so far, and that still exist.',
    item: JobItem,
    serverSet: Object.keys(JobItem.properties) as (keyof typeof JobItem.properties)[],
    filters: jobFilters,
    sort: ['createdAt'],
    defaultSort: ['-createdAt'],
    search: [],
    notAllowed: { ...jobsBelow, create: 'An operation changes jobs that exist; use POST /jobs.' },
    storage: {
      seeks: true,
      list: async (query, { parents }, signal) => {
        const id = parents.at(-1)?.id ?? '';
        const filter = toJobFilter(query);
        if (filter === null) return { items: [], total: 0 };
        const completeness = { partial: false };
        const documents = includesDocuments(query);
        const [page, operation] = await Promise.all([
          seekPage(query, async (part) => {
            const read = await changedJobs(storage, id, filter, { ...part, documents, signal });
            completeness.partial = read.partial;
            return read;
          }),
          query.count === 'none' ? undefined : storage.bulk.find(id),
        ]);
        const items = page.items.map(toJobItem);
        const { partial } = completeness;
        const isWhole = query.seek === undefined && query.offset === 0 && page.more !== true && !partial;
        const total = isWhole ? items.length : operation?.changed;
        return {
          ...page,
          items,
          partial,
          total: query.count === 'none' ? undefined : total,
          estimated: query.count !== 'none' && !isWhole,
        };
      },
    },
  });
}

interface Found {
  readonly rows: readonly Job[];
  readonly cut: boolean;
  readonly partial: boolean;
}

/**
 * Reads changed jobs until the page is full. Looks up at most {@link maxCompared} jobs, because most may have been deleted
 * or may not match.
 */
async function changedJobs(
  { bulk, jobs }: Storage,
  operationId: string,
  filter: JobFilter,
  {
    order,
    limit,
    offset,
    after,
    ...read
  }: StoragePage & { readonly documents: boolean; readonly signal: AbortSignal },
): Promise<Found> {
  const rows: Job[] = [];
  let cursor = after;
  let left = offset;
  for (let seen = 0; seen < maxCompared;) {
    const size = Math.min(1_000, Math.max(100, limit + offset));
    const changed = await bulk.listChanged(operationId, {
      order,
      limit: size,
      ...(cursor && { after: cursor }),
    });
    if (changed.length === 0) return { rows, cut: false, partial: false };
    const wanted = { ...filter, id: changed };
    const page = { ...read, order, limit: changed.length, maxBytes: maxPageBytes };
    const { jobs: listed, cut } = await jobs.listPage({ ...page, filter: wanted });
    const skipped = Math.min(left, listed.length);
    rows.push(...listed.slice(skipped));
    left -= skipped;
    if (rows.length >= limit || cut) return { rows: rows.slice(0, limit), cut, partial: false };
    seen += changed.length;
    cursor = changed.at(-1);
  }
  return { rows, cut: false, partial: true };
}
