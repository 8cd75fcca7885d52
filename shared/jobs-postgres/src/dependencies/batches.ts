import type { Batch, JobState, TransactionClient } from '@longshore/jobs';
import {
  batchControlResult,
  type BatchControlResult,
  type Batches,
  type BatchFilter,
  type BatchListQuery,
  type CancelBatchOptions,
  type FinishedState,
  firstIdOf,
  isFinished,
  isId,
  type JobCount,
  outbox,
  type Notification,
} from '@longshore/jobs/storage';
import type { Connection } from '../connection/connection.js';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { afterCommit, type Run, runAlone, runOf } from '../connection/run.js';
import { inTransaction } from '../records/audit.js';
import { detailsOf, moveJobs, type MovedRow, type Place } from '../jobs/job-moves.sql.js';
import { countOf, maxCounted } from '../queues/counters.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import type { DependencyResolver } from './outbox-relay.js';
import {
  type BatchRow,
  countBatches,
  countSomeBatches,
  lockBatches,
  type MemberRow,
  selectBatch,
  selectBatches,
  selectMembers,
  selectNewestBatches,
  selectOldestBatches,
  toBatch,
} from './batches.sql.js';
import type { OutboxRow } from '../jobs/outbox.sql.js';

/** Maximum number of jobs that are cancelled at a time. */
const chunk = 2_000;

type Change = Record<FinishedState, number>;

/** Counts the jobs of batches as they finish, and finds, lists and cancels batches. */
export class PostgresBatches implements DependencyResolver, Batches {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #queues: QueueIdCache;
  readonly #notify: (notification: Notification) => void;

  constructor(
    { database, reads }: { readonly database: Database; readonly reads: Database },
    queues: QueueIdCache,
    notify: (notification: Notification) => void,
  ) {
    this.#database = database;
    this.#reads = reads;
    this.#queues = queues;
    this.#notify = notify;
  }

  async resolve(client: Connection, entries: readonly OutboxRow[]): Promise<Iterable<Notification>> {
    const changes = changesOf(entries);
    if (changes.size === 0) return [];
    const ids = arrayOf([...changes.keys()]);
    const columns = (['done', 'failed', 'cancelled'] as const).map((state) =>
      arrayOf([...changes.values()].map((change) => change[state])),
    );
    await client.query(lockBatches, [ids]);
    const { rows } = await client.query(countBatches, [ids, ...columns]);
    return rows.length > 0 ? [outbox] : []; // each row is a batch that has ended; its dependents must be resolved
  }

  async find(id: string, transaction?: TransactionClient): Promise<Batch | null> {
    if (!isId(id)) return null;
    const [row] = (await runOf(this.#reads, transaction)(selectBatch, [id])) as readonly BatchRow[];
    return row === undefined ? null : toBatch(row);
  }

  async findMany(ids: readonly string[]): Promise<Batch[]> {
    const valid = ids.filter(isId);
    if (valid.length === 0) return [];
    return (await this.#reads.query<BatchRow>(selectBatches, [arrayOf(valid)])).map(toBatch);
  }

  async list({ filter = {}, order = 'newest', limit, offset = 0, after }: BatchListQuery): Promise<Batch[]> {
    const statement = order === 'newest' ? selectNewestBatches : selectOldestBatches;
    const rows = await this.#reads.query<BatchRow>(statement, [
      ...filterValues(filter),
      limit,
      offset,
      after ?? null,
    ]);
    return rows.map(toBatch);
  }

  async count(filter: BatchFilter = {}): Promise<JobCount> {
    const values = [...filterValues(filter), maxCounted + 1];
    const [row] = await this.#reads.query<{ batches: number }>(countSomeBatches, values);
    const counted = row?.batches ?? 0;
    return countOf(counted);
  }

  /**
   * Cancels a batch's unfinished jobs. In a caller's transaction, cancels all of them at once. Otherwise, uses several
   * transactions, because a single one could exceed the time limit. The first transaction includes the audit entry.
   */
  async cancel(id: string, { reason, ...options }: CancelBatchOptions = {}): Promise<BatchControlResult> {
    const { transaction } = options;
    const queues = transaction === undefined ? this.#queues : this.#queues.within(transaction);
    const queueIds = isId(id) ? (await queues.all()).map((queue) => queue.id) : [];
    const cancelSome = (run: Run): Promise<Cancelled> => cancelMembersOf(id, queueIds, run, reason);
    let isComplete = true;
    const result = await inTransaction(this.#database, options, async (run, record) => {
      const [row] = isId(id) ? ((await run(selectBatch, [id])) as readonly BatchRow[]) : [];
      const batch = row === undefined ? undefined : toBatch(row);
      if (batch !== undefined) options.check?.(batch);
      let changed = false;
      isComplete = batch?.finishedAt !== null;
      let goesOn = !isComplete;
      while (goesOn) {
        const { found, cancelled } = await cancelSome(run);
        isComplete = found === 0;
        changed ||= cancelled > 0;
        goesOn = !isComplete && (transaction !== undefined || !changed);
      }
      const outcome = batchControlResult(batch, changed);
      await record(outcome);
      return outcome;
    });
    if (result.outcome !== 'ok') return result;
    while (!isComplete) isComplete = (await cancelSome(runAlone(this.#database))).found === 0;
    await afterCommit(transaction, this.#database.schema, ['outbox', 'cancel'], () => {
      this.#notify(outbox);
      this.#notify({ kind: 'cancel' });
    });
    return { ...result, batch: (await this.find(id, transaction)) ?? result.batch };
  }
}

/** Returns the parameters $1 to $6 of the statements that list and count batches. */
function filterValues(filter: BatchFilter): unknown[] {
  const { state = [], name = [], createdAfter, createdBefore, finishedAfter, finishedBefore } = filter;
  return [
    state.length === 0 ? null : state,
    name.length === 0 ? null : name,
    createdAfter === undefined ? null : firstIdOf(createdAfter),
    createdBefore === undefined ? null : firstIdOf(createdBefore),
    finishedAfter ?? null,
    finishedBefore ?? null,
  ];
}

/** How many members were found, and how many of them are now cancelled or to be cancelled. */
interface Cancelled {
  readonly found: number;
  readonly cancelled: number;
}

/**
 * Cancels up to {@link chunk} jobs of a batch, or requests their cancellation if they run. Repeat until none is found: a
 * job that has moved in the meantime, for example because its attempt failed and is retried, is found again elsewhere.
 */
async function cancelMembersOf(
  batchId: string,
  queueIds: readonly number[],
  run: Run,
  reason: string | null | undefined,
): Promise<Cancelled> {
  const members = (await run(selectMembers, [arrayOf(queueIds), batchId, chunk])) as readonly MemberRow[];
  const groups = new Map<
    string,
    { readonly queueId: number; readonly place: Place; readonly ids: string[] }
  >();
  for (const { queue_id: queueId, id, place } of members) {
    const key = `${queueId} ${place}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { queueId, place, ids: [id] });
    else group.ids.push(id);
  }
  let cancelled = 0;
  for (const { queueId, place, ids } of groups.values()) {
    const cancel = moveJobs.cancel[place];
    if (cancel === undefined) continue;
    const values = [queueId, arrayOf(ids), ...detailsOf('cancel', place, { reason })];
    const rows = (await run(cancel, values)) as readonly MovedRow[];
    cancelled += rows.filter(({ changed }) => changed).length;
  }
  return { found: members.length, cancelled };
}

/**
 * Returns how the counts of each batch change, by batch id. Includes batches whose counts stay the same, because one that
 * was reopened may have ended again.
 */
function changesOf(entries: readonly OutboxRow[]): Map<string, Change> {
  const changes = new Map<string, Change>();
  for (const { from_state: from, to_state: to, meta } of entries) {
    if (meta.batchId === undefined) continue;
    let change = changes.get(meta.batchId);
    if (change === undefined) changes.set(meta.batchId, (change = { done: 0, failed: 0, cancelled: 0 }));
    add(change, from, -1);
    add(change, to, 1);
  }
  return changes;
}

function add(change: Change, state: JobState, jobs: number): void {
  if (isFinished(state)) change[state] += jobs;
}
