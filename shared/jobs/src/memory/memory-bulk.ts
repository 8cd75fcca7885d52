import { newId } from '../job/id.js';
import { type ActionOptions, storableReason } from '../storage/audit-log.js';
import {
  type BulkListQuery,
  type BulkOperation,
  type BulkOperations,
  type BulkPreview,
  type BulkRequest,
  type ChangedJobsQuery,
  checkBulkRequest,
  checkSelection,
  statesOfRequest,
} from '../storage/bulk-operations.js';
import type { BulkAction, ControlResult, JobControl } from '../storage/job-control.js';
import { bulkKey } from '../storage/set-aside.js';
import type { Clock } from '../job/clock.js';
import type { JobCount } from '../storage/job-reader.js';
import type { MemoryAuditLog } from './memory-audit.js';
import { matcherOf } from './job-matcher.js';
import type { JobRecord } from './job-record.js';
import { refuseTransaction } from './refuse-transaction.js';
import type { MemorySetAside } from './memory-set-aside.js';
import type { MemoryJobs } from './memory-jobs.js';

type Control = Pick<JobControl, BulkAction>;

interface RunningOperation {
  readonly operation: BulkOperation;
  /** Ids of the jobs that have not been processed yet. */
  readonly rest: string[];
  /** Ids of the jobs that the operation has changed so far. */
  readonly changed: string[];
  /** Maximum number of jobs to change: the confirmed count if it is exact, otherwise `Infinity`. */
  readonly max: number;
  readonly request: BulkRequest;
  /** Jobs created or finished later are not changed. */
  readonly asOf: Date;
}

const chunk = 500;
const maxKept = 1_000;

const verbs: Record<
  BulkAction,
  (
    control: Control,
    id: string,
    request: Pick<BulkRequest, 'dependents' | 'visibleQueues' | 'reason' | 'runAt' | 'toName'>,
  ) => Promise<ControlResult>
> = {
  cancel: (control, id, { reason }) => control.cancel(id, { reason }),
  retry: (control, id, { dependents = false, visibleQueues = null }) =>
    control.retry(id, { dependents, visibleQueues }),
  run: (control, id) => control.run(id),
  reschedule: (control, id, { runAt }) => control.reschedule(id, runAt ?? new Date(NaN)),
  rename: (control, id, { toName }) => control.rename(id, toName ?? ''),
  delete: (control, id) => control.delete(id),
};

/**
 * Keeps bulk operations in memory and runs them. An operation selects its jobs when it is created, and checks each job
 * again before changing it.
 */
export class MemoryBulkOperations implements BulkOperations {
  readonly #jobs: MemoryJobs;
  readonly #control: Control;
  readonly #clock: Clock;
  readonly #setAside: MemorySetAside;
  readonly #audit: MemoryAuditLog;
  readonly #operations = new Map<string, RunningOperation>();

  constructor(
    jobs: MemoryJobs,
    control: Control,
    clock: Clock,
    setAside: MemorySetAside,
    audit: MemoryAuditLog,
  ) {
    this.#audit = audit;
    this.#jobs = jobs;
    this.#control = control;
    this.#clock = clock;
    this.#setAside = setAside;
  }

  async preview(request: Pick<BulkRequest, 'action' | 'filter'>): Promise<BulkPreview> {
    checkSelection(request);
    const asOf = new Date(this.#clock.now());
    const count = { count: this.#matching(request, asOf).length, exact: true };
    return { count, asOf, oldestSearchedIds: {} };
  }

  async start(request: BulkRequest, options: ActionOptions<BulkOperation> = {}): Promise<BulkOperation> {
    refuseTransaction(options.transaction);
    checkBulkRequest(request);
    const {
      action,
      filter,
      requestedBy = null,
      confirmed,
      delayMs = 0,
      reason = null,
      runAt = null,
      toName = null,
    } = request;
    const createdAt = new Date(this.#clock.now());
    const asOf = confirmed?.asOf ?? createdAt;
    const max = confirmed?.count?.exact === true ? confirmed.count.count : Infinity;
    const matching = this.#matching(request, asOf);
    const wanted = filter.id ?? [];
    const operation: BulkOperation = {
      id: newId(),
      action,
      filter: structuredClone(filter),
      state: delayMs > 0 ? 'pending' : 'running',
      matched: confirmed === undefined ? { count: matching.length, exact: true } : confirmed.count,
      seen: 0,
      changed: 0,
      restored: 0,
      skipped: 0,
      requestedBy,
      reason: storableReason(reason),
      runAt,
      toName,
      createdAt,
      startsAt: new Date(createdAt.getTime() + delayMs),
      finishedAt: null,
      error: null,
    };
    this.#audit.addOf(options, { ...operation });
    const rest =
      wanted.length > 0 ? [...new Set(wanted.map((id) => id.toLowerCase()))] : matching.map(({ id }) => id);
    this.#operations.set(operation.id, { operation, rest, changed: [], max, request, asOf });
    this.#trim();
    this.#jobs.notifications.notify({ kind: 'bulk' });
    return { ...operation };
  }

  async find(id: string): Promise<BulkOperation | null> {
    this.#begin();
    const found = this.#operations.get(id.toLowerCase());
    return found === undefined ? null : { ...found.operation };
  }

  async listChanged(id: string, { order = 'newest', limit, after }: ChangedJobsQuery): Promise<string[]> {
    const changed = (this.#operations.get(id.toLowerCase())?.changed ?? []).toSorted();
    const isBeyond = (jobId: string): boolean =>
      after === undefined || (order === 'newest' ? jobId < after : jobId > after);
    return (order === 'newest' ? changed.toReversed() : changed).filter(isBeyond).slice(0, limit);
  }

  async list({ order = 'newest', limit, offset = 0, after }: BulkListQuery): Promise<BulkOperation[]> {
    this.#begin();
    const isBefore = (left: string, right: string): boolean =>
      order === 'newest' ? left > right : left < right;
    return [...this.#operations.values()]
      .map(({ operation }) => ({ ...operation }))
      .filter(({ id }) => after === undefined || isBefore(after, id))
      .toSorted((left, right) => (isBefore(left.id, right.id) ? -1 : 1))
      .slice(offset, offset + limit);
  }

  async count(): Promise<JobCount> {
    return { count: this.#operations.size, exact: true };
  }

  async cancel(id: string, options: ActionOptions<BulkOperation | null> = {}): Promise<BulkOperation | null> {
    refuseTransaction(options.transaction);
    const { operation } = this.#operations.get(id.toLowerCase()) ?? {};
    this.#audit.addOf(options, operation === undefined ? null : { ...operation });
    if (operation?.state === 'running' || operation?.state === 'pending') this.#end(operation, 'cancelled');
    return this.find(id);
  }

  async advance(): Promise<boolean> {
    this.#begin();
    const running = [...this.#operations.values()].find(({ operation }) => operation.state === 'running');
    if (running === undefined) return false;
    const { operation, rest, changed, max, request, asOf } = running;
    for (const id of rest.splice(0, chunk)) {
      const restored = changed.length < max ? await this.#change(request, id, asOf) : null;
      const isChanged = restored !== null;
      operation.restored += restored ?? 0;
      if (isChanged) changed.push(id);
      operation.seen++;
      operation[isChanged ? 'changed' : 'skipped']++;
    }
    if (rest.length === 0 && operation.state === 'running') this.#end(operation, 'done');
    return true;
  }

  /** Changes a job. Returns how many dependents were restored; `null` if the job was not changed. */
  async #change(request: BulkRequest, id: string, asOf: Date): Promise<number | null> {
    const { action, filter } = request;
    const job = this.#jobs.find(id);
    if (job === undefined || !isIncluded(job, asOf) || !matcherOf({ ...filter, state: [] })(job)) return null;
    if (!statesOfRequest({ action, filter }).includes(job.state)) return null;
    try {
      const result = await verbs[action](this.#control, id, request);
      return result.outcome === 'ok' && result.changed ? result.restored : null;
    } catch (error) {
      this.#setAside.add({ role: 'bulk', key: bulkKey(action, id), queue: job.queue, jobId: id }, error);
      return null;
    }
  }

  /** Returns the jobs that a request would change, without jobs that were created or finished after `asOf`. */
  #matching(request: Pick<BulkRequest, 'action' | 'filter'>, asOf: Date): JobRecord[] {
    const states = statesOfRequest(request);
    const matches = matcherOf(request.filter);
    return [...this.#jobs.all()].filter(
      (job) => states.includes(job.state) && isIncluded(job, asOf) && matches(job),
    );
  }

  /** Starts the pending operations that are due. */
  #begin(): void {
    for (const { operation } of this.#operations.values())
      if (operation.state === 'pending' && operation.startsAt.getTime() <= this.#clock.now())
        operation.state = 'running';
  }

  #end(operation: BulkOperation, state: 'done' | 'cancelled'): void {
    operation.state = state;
    operation.finishedAt = new Date(this.#clock.now());
  }

  #trim(): void {
    for (const [id, { operation }] of this.#operations) {
      if (this.#operations.size <= maxKept) return;
      if (operation.finishedAt !== null) this.#operations.delete(id);
    }
  }
}

function isIncluded({ createdAt, finishedAt }: JobRecord, asOf: Date): boolean {
  return (finishedAt ?? createdAt) <= asOf;
}
