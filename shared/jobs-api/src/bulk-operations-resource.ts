import { shorten } from '@longshore/edge';
import type { JobStorage } from '@longshore/jobs';
import { bulkOperations, type OperableStorage } from '@longshore/jobs/operations';
import { bounds, type BulkOperation, bulkActions, type JobFilter } from '@longshore/jobs/storage';
import { defineResource, readOnly, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { bulkJobsResource } from './bulk-jobs-resource.js';
import { createdAtOf, Id, nullable, nullInExamples, text, Time, toTime } from './fields.js';
import { served } from './operations.js';
import { seekPage } from './seek.js';

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
        const found = await bulk.find(id);
        return found === null ? undefined : toBulkOperationItem(found);
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
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
