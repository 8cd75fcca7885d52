import type { Batch, JobState, TransactionClient } from '@longshore/jobs';
import {
  type BatchControlResult,
  type Batches,
  type BatchListQuery,
  type ControlOptions,
  type FinishedState,
  isFinished,
  isId,
  type JobCount,
} from '@longshore/jobs/storage';
import type pg from 'pg';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { onceCommitted, type Run, runOf } from '../connection/run.js';
import type { QueueIdCache } from '../connection/queue-id-cache.js';
import type { Statement } from '../connection/statement.js';
import type { DependencyResolver } from './outbox-relay.js';
import {
  type BatchRow,
  cancelBatchJobs,
  cancelRunningOfBatch,
  countBatches,
  countSomeBatches,
  lockBatches,
  selectBatch,
  selectNewestBatches,
  selectOldestBatches,
  toBatch,
} from './batches.sql.js';
import type { OutboxRow } from './outbox.sql.js';

/** Maximum number of jobs cancelled by one statement. */
const chunk = 2_000;

/** Counting batches stops here. */
const mostCounted = 10_000;

type Change = Record<FinishedState, number>;

/** Counts the finished jobs of batches; lists and cancels batches. */
export class PostgresBatches implements DependencyResolver, Batches {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #queues: QueueIdCache;
  readonly #notify: (queue: string | null) => void;

  constructor(
    { database, reads }: { readonly database: Database; readonly reads: Database },
    queues: QueueIdCache,
    notify: (queue: string | null) => void,
  ) {
    this.#database = database;
    this.#reads = reads;
    this.#queues = queues;
    this.#notify = notify;
  }

  async resolve(client: pg.ClientBase, moves: readonly OutboxRow[]): Promise<Iterable<null>> {
    const changes = changesOf(moves);
    if (changes.size === 0) return [];
    const ids = arrayOf([...changes.keys()]);
    const columns = (['done', 'failed', 'cancelled'] as const).map((state) =>
      arrayOf([...changes.values()].map((change) => change[state])),
    );
    await client.query({ ...lockBatches, values: [ids] });
    const { rows } = await client.query({ ...countBatches, values: [ids, ...columns] });
    return rows.length > 0 ? [null] : []; // some batches have ended: their dependents need to be resolved
  }

  async find(id: string, transaction?: TransactionClient): Promise<Batch | null> {
    if (!isId(id)) return null;
    const [row] = (await runOf(this.#reads, transaction)(selectBatch, [id])) as readonly BatchRow[];
    return row === undefined ? null : toBatch(row);
  }

  async list({ order = 'newest', limit, offset = 0, after }: BatchListQuery): Promise<Batch[]> {
    const statement = order === 'newest' ? selectNewestBatches : selectOldestBatches;
    const rows = await this.#reads.query<BatchRow>(statement, [limit, offset, after ?? null]);
    return rows.map(toBatch);
  }

  async count(): Promise<JobCount> {
    const [row] = await this.#reads.query<{ batches: number }>(countSomeBatches, [mostCounted + 1]);
    const counted = row?.batches ?? 0;
    return { count: Math.min(counted, mostCounted), exact: counted <= mostCounted };
  }

  async cancel(id: string, { check, transaction }: ControlOptions<Batch> = {}): Promise<BatchControlResult> {
    const batch = await this.find(id, transaction);
    if (batch === null) return { outcome: 'unknown' };
    check?.(batch);
    if (batch.finishedAt !== null) return { outcome: 'illegal', batch };
    const run = runOf(this.#database, transaction);
    let cancelled = 0;
    for (const { id: queueId } of await this.#queues.all()) {
      for (const statement of cancelBatchJobs) {
        for (let last = chunk; last === chunk; cancelled += last)
          last = await countOf(run, statement, [queueId, batch.id, chunk]);
      }
      cancelled += await countOf(run, cancelRunningOfBatch, [queueId, batch.id]);
    }
    onceCommitted(transaction, () => this.#notify(null));
    return {
      outcome: 'ok',
      batch: (await this.find(id, transaction)) ?? batch,
      changed: cancelled > 0,
    };
  }
}

async function countOf(run: Run, statement: Statement, values: unknown[]): Promise<number> {
  const [row] = (await run(statement, values)) as readonly { jobs: number }[];
  return row?.jobs ?? 0;
}

/** Returns the increments of each batch's counts. */
function changesOf(moves: readonly OutboxRow[]): Map<string, Change> {
  const changes = new Map<string, Change>();
  for (const { from_state: from, to_state: to, meta } of moves) {
    if (meta.batchId === undefined) continue;
    let change = changes.get(meta.batchId);
    if (change === undefined) changes.set(meta.batchId, (change = { done: 0, failed: 0, cancelled: 0 }));
    add(change, from, -1);
    add(change, to, 1);
  }
  for (const [id, { done, failed, cancelled }] of changes) {
    if (done === 0 && failed === 0 && cancelled === 0) changes.delete(id);
  }
  return changes;
}

function add(change: Change, state: JobState, jobs: number): void {
  if (isFinished(state)) change[state] += jobs;
}
