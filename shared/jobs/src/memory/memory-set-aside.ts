import { toJobError } from '../job/failure.js';
import type { BulkRequest } from '../storage/bulk-operations.js';
import type { ControlOptions } from '../storage/job-control.js';
import {
  bulkRequestOf,
  maxSetAside,
  type SetAside,
  setAsideRetryMs,
  type SetAsideItem,
  type SetAsideListener,
  type SetAsideQuery,
  type SetAsideRole,
  setAsideRoles,
} from '../storage/set-aside.js';
import type { MemoryAuditLog } from './memory-audit.js';
import type { Clock } from '../job/clock.js';
import type { TransactionClient } from '../storage/transaction.js';
import { refuseTransaction } from './refuse-transaction.js';

/** An item of background work, such as a job or a recurring job. */
interface Subject {
  readonly role: SetAsideRole;
  readonly key: string;
  readonly queue?: string;
  readonly jobId?: string;
  /** When the item was last changed. If it has not failed since then, it is retried immediately. */
  readonly changedAt?: Date;
}

type Entry = SetAsideItem & { readonly discarded: boolean };

/** Tracks the items that background work failed to process. Setting them aside keeps them from blocking other items. */
export class MemorySetAside implements SetAside {
  readonly #clock: Clock;
  readonly #audit: MemoryAuditLog;
  readonly #items = new Map<string, Entry>();
  readonly #listeners = new Set<SetAsideListener>();
  #lastId = 0;

  readonly #startBulk: (request: BulkRequest) => void;

  /** @param startBulk starts the bulk operation that retries a job on which an earlier bulk operation failed */
  constructor(clock: Clock, audit: MemoryAuditLog, startBulk: (request: BulkRequest) => void) {
    this.#audit = audit;
    this.#clock = clock;
    this.#startBulk = startBulk;
  }

  /**
   * Processes an item unless it is set aside. If processing fails, sets the item aside. Returns the result of `work`,
   * or `undefined` if the item was skipped or failed.
   *
   * @throws the original error if too many other items of this role are set aside
   */
  attempt<Result>(subject: Subject, work: () => Result): Result | undefined {
    if (this.isSetAside(subject)) return undefined;
    try {
      const result = work();
      this.#items.delete(nameOf(subject));
      return result;
    } catch (error) {
      this.add(subject, error);
      return undefined;
    }
  }

  /**
   * Sets aside an item whose processing has failed.
   *
   * @throws the original error if too many other items of this role are set aside
   */
  add(subject: Subject, thrown: unknown): void {
    const before = this.#items.get(nameOf(subject));
    if (before === undefined && this.#ofRole(subject.role) >= maxSetAside) throw thrown;
    const now = this.#clock.now();
    const failures = (before?.failures ?? 0) + 1;
    const item: SetAsideItem = {
      id: before?.id ?? String(++this.#lastId),
      role: subject.role,
      key: subject.key,
      queue: subject.queue ?? null,
      jobId: subject.jobId ?? null,
      error: toJobError(thrown),
      failures,
      createdAt: before?.createdAt ?? new Date(now),
      failedAt: new Date(now),
      retryAt: subject.role === 'bulk' ? null : new Date(now + setAsideRetryMs(failures)),
    };
    this.#items.set(nameOf(subject), { ...item, discarded: false });
    if (before === undefined) for (const listener of this.#listeners) listener(item);
  }

  /**
   * Returns whether background work must skip the item. A discarded item is skipped. A failed item is skipped until its
   * next retry is due. An item that has changed since its last failure is not skipped.
   */
  isSetAside({ role, key, changedAt }: Subject): boolean {
    const item = this.#items.get(nameOf({ role, key }));
    if (item === undefined || (changedAt !== undefined && changedAt > item.failedAt)) return false;
    return item.discarded || (item.retryAt?.getTime() ?? 0) > this.#clock.now();
  }

  async list({ limit, after }: SetAsideQuery): Promise<SetAsideItem[]> {
    return [...this.#items.values()]
      .filter(({ id, discarded }) => !discarded && (after === undefined || Number(id) < Number(after)))
      .toSorted((one, other) => Number(other.id) - Number(one.id))
      .slice(0, limit)
      .map(shown);
  }

  async count(): Promise<Record<SetAsideRole, number>> {
    return Object.fromEntries(setAsideRoles.map((role) => [role, this.#ofRole(role)])) as Record<
      SetAsideRole,
      number
    >;
  }

  async find(id: string, transaction?: TransactionClient): Promise<SetAsideItem | null> {
    refuseTransaction(transaction);
    const [item] = await this.list({ limit: 1, after: String(Number(id) + 1) });
    return item?.id === id ? item : null;
  }

  async retry(
    id: string,
    options?: ControlOptions<SetAsideItem, SetAsideItem | null>,
  ): Promise<SetAsideItem | null> {
    return this.#change(id, options, (name, item) => {
      if (item.role !== 'bulk') {
        this.#items.set(name, { ...item, retryAt: new Date(this.#clock.now()) });
        return;
      }
      this.#items.delete(name);
      this.#startBulk(bulkRequestOf(item));
    });
  }

  async discard(
    id: string,
    options?: ControlOptions<SetAsideItem, SetAsideItem | null>,
  ): Promise<SetAsideItem | null> {
    return this.#change(id, options, (name, item) => this.#items.set(name, { ...item, discarded: true }));
  }

  listen(listener: SetAsideListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #ofRole(role: SetAsideRole): number {
    return [...this.#items.values()].filter((item) => item.role === role && !item.discarded).length;
  }

  #change(
    id: string,
    options: ControlOptions<SetAsideItem, SetAsideItem | null> = {},
    change: (name: string, item: Entry) => void,
  ): SetAsideItem | null {
    refuseTransaction(options.transaction);
    const [name, entry] = [...this.#items].find(([, item]) => item.id === id && !item.discarded) ?? [];
    const item = entry === undefined ? null : shown(entry);
    if (item !== null) options.check?.(item);
    this.#audit.addOf(options, item);
    if (name !== undefined && entry !== undefined) change(name, entry);
    return item;
  }
}

function shown({ discarded: _discarded, ...item }: Entry): SetAsideItem {
  return item;
}

function nameOf({ role, key }: Subject): string {
  return `${role} ${key}`;
}

/** Returns the item to set aside if background work of this role fails for this job. */
export function itemOfJob(
  role: SetAsideRole,
  { id, queue }: { readonly id: string; readonly queue: string },
): Subject {
  return { role, key: id, queue, jobId: id };
}
