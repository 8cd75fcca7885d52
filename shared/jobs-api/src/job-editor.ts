import type { Job, JobStorage } from '@longshore/jobs';
import { type DecideEdits, editableStates, type JobContent, mapInSlices } from '@longshore/jobs/storage';
import { ApiError, applyAll, type ItemChange, type KeyedChange } from '@longshore/resources';
import type { Static } from 'typebox';
import { type JobItem, toJobItem } from './job-item.js';
import type { Backlog } from './backlog.js';
import type { CallerQuotas, Creator } from './caller-quotas.js';
import { type EnqueueRequests, withApiErrors } from './enqueue-requests.js';

type Item = Static<typeof JobItem>;

/** The fields of an existing job that callers cannot change. */
export const serverSet = [
  'id',
  'name',
  'state',
  'result',
  'error',
  'attempt',
  'maxAttempts',
  'createdAt',
  'startedAt',
  'finishedAt',
  'progress',
  'serverId',
  'tags',
  'parentId',
  'batchId',
  'recurringJobId',
  'idempotencyKey',
  'unreadable',
] as const;

type Fields = Omit<Item, (typeof serverSet)[number]>;

/** Applies PATCH and PUT requests to jobs that are neither running nor finished. */
export class JobEditor {
  readonly #storage: Pick<JobStorage, 'control'>;
  readonly #requests: EnqueueRequests;
  readonly #quotas: CallerQuotas;
  readonly #backlog: Backlog;

  constructor(
    storage: Pick<JobStorage, 'control'>,
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
  async one(id: string, change: ItemChange<Item, Fields>, creator: Creator): Promise<Item | undefined> {
    await this.#admitQueues([change], creator);
    const edited = await this.#edit([id], async (current) => {
      const [job] = current.values();
      return job === undefined ? new Map() : this.#decide([{ id: job.id, change }], current);
    });
    return edited[0];
  }

  /**
   * Changes all jobs or none, and returns them in the order of the changes. Throws like {@link one}, and also 40402 if
   * a job does not exist.
   */
  async all(changes: readonly KeyedChange<Item, Fields>[], creator: Creator): Promise<Item[]> {
    await this.#admitQueues(
      changes.map(({ change }) => change),
      creator,
    );
    const ids = changes.map(({ id }) => id);
    return this.#edit(ids, (current) => this.#decide(changes, current));
  }

  async #admitQueues(changes: readonly ItemChange<Item, Fields>[], creator: Creator): Promise<void> {
    const queues = new Set(changes.flatMap(({ fields }) => fields.queue ?? []));
    await withApiErrors(() => this.#quotas.admitQueues(queues, creator));
  }

  async #edit(ids: readonly string[], decide: DecideEdits): Promise<Item[]> {
    return mapInSlices(await withApiErrors(() => this.#storage.control.edit(ids, decide)), toJobItem);
  }

  async #decide(
    changes: readonly KeyedChange<Item, Fields>[],
    current: ReadonlyMap<string, Job>,
  ): Promise<ReadonlyMap<string, JobContent>> {
    const items = new Map(await mapInSlices([...current], ([id, job]) => [id, toJobItem(job)] as const));
    const fields = await applyAll({ singular: 'job' }, changes, items);
    requireEditable([...current.values()]);
    const contents = new Map(
      await mapInSlices(changes, ({ id, change }, index) => {
        const { queue, priority, args, runAt } = fields[index] ?? change.fields;
        const job = current.get(id);
        const name = job?.name ?? '';
        const isNew = change.fields.args !== undefined;
        const content = {
          queue: queue ?? '',
          priority: priority ?? 0,
          args: isNew ? this.#requests.definitionOf(name).check(args).text : JSON.stringify(job?.args),
          runAt: runAt === undefined || runAt === null ? null : new Date(runAt),
        };
        return [id, content] as const;
      }),
    );
    await this.#backlog.admitEdited(current, contents);
    return contents;
  }
}

function requireEditable(jobs: readonly Job[]): void {
  const [first, ...rest] = jobs
    .filter(({ state }) => !editableStates.includes(state))
    .map(({ id, state }) => ({
      code: 40902 as const,
      internalMessage: `The job ${id} is ${state} and cannot be changed`,
    }));
  if (first !== undefined) throw new ApiError([first, ...rest]);
}
