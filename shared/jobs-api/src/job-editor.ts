import { mapInSlices } from '@longshore/edge';
import type { Job, JsonValue } from '@longshore/jobs';
import {
  type Call,
  type EditedValues,
  type JobEdits,
  jobOperations,
  type OperableStorage,
} from '@longshore/jobs/operations';
import { type DecideEdits, editableStates, type JobContent } from '@longshore/jobs/storage';
import {
  ApiError,
  apiError,
  applyAll,
  type CallContext,
  type ItemChange,
  type KeyedChange,
} from '@longshore/resources';
import type { Static } from 'typebox';
import { type EnqueueRequests, withApiErrors } from './enqueue-requests.js';
import { type JobItem, toJobItem } from './job-item.js';
import { perform } from './operations.js';
import type { Backlog, CallerQuotas, Creator } from './quotas.js';

type Item = Static<typeof JobItem>;

/** What the body of a retry says about the job's content. */
interface RetryBody {
  readonly toQueue?: string;
  readonly args?: unknown;
}

/** The fields of an existing job that callers cannot change. */
export const serverSet = [
  'id',
  'name',
  'state',
  'result',
  'error',
  'attempt',
  'timeoutMs',
  'version',
  'createdAt',
  'delayMs',
  'startedAt',
  'finishedAt',
  'progress',
  'serverId',
  'cancelRequestedAt',
  'cancelReason',
  'after',
  'batchId',
  'recurringJobId',
  'enqueuedBy',
  'correlate',
  'awaits',
  'concurrency',
  'unique',
  'idempotencyKey',
  'traceparent',
  'unreadable',
] as const;

type Fields = Omit<Item, (typeof serverSet)[number]>;

/** A multi-job edit records the values of at most this many jobs in the audit log. */
const maxRecorded = 20;

/** Applies PATCH and PUT requests to jobs that are neither running nor finished. */
export class JobEditor {
  readonly #storage: OperableStorage;
  readonly #requests: EnqueueRequests;
  readonly #quotas: CallerQuotas;
  readonly #backlog: Backlog;

  constructor(
    storage: OperableStorage,
    requests: EnqueueRequests,
    { quotas, backlog }: { readonly quotas: CallerQuotas; readonly backlog: Backlog },
  ) {
    this.#storage = storage;
    this.#requests = requests;
    this.#quotas = quotas;
    this.#backlog = backlog;
  }

  /**
   * Changes one job; resolves to `undefined` if there is no such job.
   * @throws {ApiError} 412 if a precondition fails, 422 if the new fields are invalid, 40902 if the job is running or
   *   finished, 42901 if its new queue would have too many jobs
   */
  async one(id: string, change: ItemChange<Item, Fields>, context: CallContext): Promise<Item | undefined> {
    await this.#admitQueues([change], context);
    const decide: DecideEdits = async (current) => {
      const [job] = current.values();
      return job === undefined ? new Map() : this.#decide([{ id: job.id, change }], current);
    };
    const call = { target: { ids: [id], decide }, fields: recordedOf(change.fields) };
    const [edited] = await this.#edit(call, context);
    return edited && toJobItem(edited);
  }

  /**
   * Changes all jobs or none, and returns them in the order of the changes. Throws like {@link one}, and also 40402 if
   * a job does not exist.
   */
  async many(changes: readonly KeyedChange<Item, Fields>[], context: CallContext): Promise<Item[]> {
    await this.#admitQueues(
      changes.map(({ change }) => change),
      context,
    );
    const ids = changes.map(({ id }) => id);
    const decide: DecideEdits = (current) => this.#decide(changes, current, requireEditable);
    const values = changes.slice(0, maxRecorded).map(({ id, change }) => [id, recordedOf(change.fields)]);
    const selected = {
      ids: ids.slice(0, maxRecorded),
      values: JSON.parse(JSON.stringify(Object.fromEntries(values))) as JsonValue,
    };
    const call = { target: { ids, decide }, fields: {}, selected };
    return mapInSlices(await this.#edit(call, context), toJobItem);
  }

  /**
   * Checks the new queue and arguments of a job that is about to be retried. Throws like {@link one}, and also 40301 if the
   * caller may not see the queue.
   */
  async admitRetry(
    job: Job | null,
    { toQueue: queue, args }: RetryBody,
    context: CallContext,
  ): Promise<void> {
    const { rowScope } = context;
    if (job === null || rowScope?.includes(job.queue) === false) return;
    if (queue !== undefined) {
      if (rowScope !== null && !rowScope.includes(queue))
        throw apiError(40301, `These credentials are limited to the queue ${rowScope.join(', ')}`);
      await withApiErrors(() => this.#quotas.admitQueues([queue], context));
      await withApiErrors(() => this.#backlog.admitReady(queue));
    }
    if (args !== undefined)
      await withApiErrors(() => this.#requests.definitionOf(job.name).check(args, job.version));
  }

  async #edit(
    call: Pick<Call<JobEdits, EditedValues, Job>, 'target' | 'fields' | 'selected'>,
    context: CallContext,
  ): Promise<readonly Job[]> {
    const { subject } = await withApiErrors(() => perform(jobOperations.edit, this.#storage, context, call));
    return subject ?? [];
  }

  async #admitQueues(changes: readonly ItemChange<Item, Fields>[], creator: Creator): Promise<void> {
    const queues = new Set(changes.flatMap(({ fields }) => fields.queue ?? []));
    await withApiErrors(() => this.#quotas.admitQueues(queues, creator));
  }

  /** Returns the new contents of the editable jobs. `require` may refuse the edit because of the others. */
  async #decide(
    changes: readonly KeyedChange<Item, Fields>[],
    current: ReadonlyMap<string, Job>,
    require?: (jobs: readonly Job[]) => void,
  ): Promise<ReadonlyMap<string, JobContent>> {
    const items = new Map(await mapInSlices([...current], ([id, job]) => [id, toJobItem(job)] as const));
    const fields = await applyAll({ singular: 'job' }, changes, items);
    require?.([...current.values()]);
    const contents = new Map<string, JobContent>();
    await mapInSlices(changes, ({ id, change }, index) => {
      const job = current.get(id);
      if (job === undefined || !isEditable(job)) return;
      const { queue, priority, args, runAt, tags, maxAttempts } = fields[index] ?? change.fields;
      const isNew = change.fields.args !== undefined;
      contents.set(id, {
        queue: queue ?? '',
        priority: priority ?? 0,
        args: isNew
          ? this.#requests.definitionOf(job.name).check(args, job.version).text
          : JSON.stringify(job.args),
        runAt: runAt === undefined || runAt === null ? null : new Date(runAt),
        tags,
        maxAttempts,
      });
    });
    await this.#backlog.admitEdited(current, contents);
    return contents;
  }
}

/** Returns the values of a change for the audit log, which does not keep arguments. */
function recordedOf({ args, ...values }: Partial<Fields>): EditedValues {
  const { runAt, ...edits } = values;
  return {
    ...edits,
    ...(typeof runAt === 'string' && { runAt }),
    ...(args !== undefined && { args: '…' }),
  };
}

function isEditable({ state }: Job): boolean {
  return editableStates.includes(state);
}

function requireEditable(jobs: readonly Job[]): void {
  const [first, ...furtherProblems] = jobs
    .filter((job) => !isEditable(job))
    .map(({ id, state }) => ({
      code: 40902 as const,
      internalMessage: `The job ${id} is ${state} and cannot be changed`,
    }));
  if (first !== undefined) throw new ApiError([first, ...furtherProblems]);
}
