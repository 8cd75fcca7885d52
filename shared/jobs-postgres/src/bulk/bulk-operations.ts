import { StorageUnavailableError } from '@longshore/jobs';
import {
  type ActionOptions,
  type BulkAction,
  bulkKey,
  type BulkListQuery,
  type BulkOperation,
  type BulkOperations,
  type BulkPreview,
  type BulkRequest,
  type ChangedJobsQuery,
  checkBulkRequest,
  checkSelection,
  IdSource,
  isFinished,
  isId,
  type JobCount,
  type StateCounts,
  statesOfRequest,
  readyIn,
  outbox,
  type Notification,
} from '@longshore/jobs/storage';
import type { Connection } from '../connection/connection.js';
import type { Database } from '../connection/database.js';
import { isOfData } from '../connection/errors.js';
import type { DatabaseClock } from '../connection/database-clock.js';
import { afterCommit, runOnConnection } from '../connection/run.js';
import { restoreDependents } from '../dependencies/skipped-jobs.js';
import { countOf, maxCounted } from '../queues/counters.js';
import type { PostgresJobReader } from '../read/job-reader.js';
import type { PostgresSetAside } from '../records/set-aside.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import { inTransaction } from '../records/audit.js';
import { bulkChunk, bulkNext, type ChunkRow, windowEnds } from './bulk-chunk.sql.js';
import * as sql from '../records/bulk-operations.sql.js';
import { BulkWalk, selectionOf } from './bulk-walk.js';
import { type Place, placeTables } from '../jobs/job-moves.sql.js';

/** Maximum number of jobs changed in one transaction. The jobs are locked for about 20 ms. */
const chunk = 1_000;

/** Maximum number of operations that servers work on at the same time. */
const maxAtOnce = 100;

/** Maximum number of rows scanned in one transaction. */
const window = 20_000;

const noJobs: ReadonlyMap<number, StateCounts> = new Map();

/** Carries out actions on all jobs that match a filter. */
export class PostgresBulkOperations implements BulkOperations {
  readonly #database: Database;
  readonly #queues: QueueIdCache;
  readonly #reader: PostgresJobReader;
  readonly #setAside: PostgresSetAside;
  readonly #clock: DatabaseClock;
  readonly #ids: IdSource;
  readonly #notify: (notification: Notification) => void;

  constructor(
    database: Database,
    queues: QueueIdCache,
    reader: PostgresJobReader,
    setAside: PostgresSetAside,
    clock: DatabaseClock,
    notify: (notification: Notification) => void,
  ) {
    this.#setAside = setAside;
    this.#database = database;
    this.#clock = clock;
    this.#ids = new IdSource(clock);
    this.#queues = queues;
    this.#reader = reader;
    this.#notify = notify;
  }

  async preview(request: Pick<BulkRequest, 'action' | 'filter'>): Promise<BulkPreview> {
    checkSelection(request);
    const { filter } = request;
    const state = statesOfRequest(request);
    const { lastIds, unfinished } = await this.#reader.searchedRange({ filter: { ...filter, state } });
    const counted = await this.#count(request);
    // Finished jobs outside the searched range are not changed, so they need not be counted. The count is therefore
    // exact if it is below the maximum and unfinished states were searched completely.
    const count =
      counted !== null && counted.count < maxCounted && unfinished.length === 0
        ? { ...counted, exact: true }
        : counted;
    return { count, asOf: new Date(Math.ceil(await this.#clock.read())), oldestSearchedIds: lastIds };
  }

  async start(request: BulkRequest, options: ActionOptions<BulkOperation> = {}): Promise<BulkOperation> {
    checkBulkRequest(request);
    const { confirmed } = request;
    // In a caller's transaction, the jobs are not counted, because counting takes another connection.
    const counts = confirmed === undefined && options.transaction === undefined;
    const matched = counts ? await this.#count(request) : (confirmed?.count ?? null);
    const operation = await inTransaction(this.#database, options, async (run, record) => {
      const [row] = (await run(
        sql.insertBulk,
        sql.bulkValues(this.#ids.newId(), { ...request, matched }),
      )) as readonly sql.BulkRow[];
      if (row === undefined) throw new Error('The bulk operation was not stored');
      await record(sql.toBulkOperation(row));
      return sql.toBulkOperation(row);
    });
    await afterCommit(options.transaction, this.#database.schema, ['bulk'], () =>
      this.#notify({ kind: 'bulk' }),
    );
    return operation;
  }

  async find(id: string): Promise<BulkOperation | null> {
    if (!isId(id)) return null;
    const [row] = await this.#database.query<sql.BulkRow>(sql.selectBulk, [id]);
    return row === undefined ? null : sql.toBulkOperation(row);
  }

  async listChanged(id: string, { order = 'newest', limit, after }: ChangedJobsQuery): Promise<string[]> {
    if (!isId(id)) return [];
    const values = [id, after ?? null, limit];
    const rows = await this.#database.query<{ id: string }>(sql.selectChanged[order], values);
    return rows.map((row) => row.id);
  }

  async list({ order = 'newest', limit, offset = 0, after }: BulkListQuery): Promise<BulkOperation[]> {
    const values = [limit, offset, after ?? null];
    const rows = await this.#database.query<sql.BulkRow>(sql.selectBulks[order], values);
    return rows.map(sql.toBulkOperation);
  }

  async count(): Promise<JobCount> {
    const rows = await this.#database.query<{ counted: number }>(sql.countSomeBulks, [maxCounted + 1]);
    return countOf(rows[0]?.counted ?? 0);
  }

  async cancel(id: string, options: ActionOptions<BulkOperation | null> = {}): Promise<BulkOperation | null> {
    return inTransaction(this.#database, options, async (run, record) => {
      const [before] = isId(id) ? ((await run(sql.lockBulk, [id])) as readonly sql.BulkRow[]) : [];
      await record(before === undefined ? null : sql.toBulkOperation(before));
      if (before === undefined) return null;
      await run(sql.endBulk, [id, 'cancelled', null]);
      const [after = before] = (await run(sql.selectBulk, [id])) as readonly sql.BulkRow[];
      return sql.toBulkOperation(after);
    });
  }

  async advance(): Promise<boolean> {
    for (const row of await this.#database.query<sql.BulkRow>(sql.selectRunningBulks, [maxAtOnce])) {
      if (await this.#advance(row)) return true;
    }
    return false;
  }

  /**
   * Carries out one step of an operation. Resolves to `false` if another server is working on the operation or the
   * operation has ended. If the step fails, ends the operation as failed.
   *
   * @throws {StorageUnavailableError} if the database is unavailable; the operation then stays as it is
   */
  async #advance({
    id,
    action,
    filter: json,
    run_at: runAt,
    to_name: toName,
  }: sql.BulkRow): Promise<boolean> {
    try {
      const request = { action, filter: sql.readFilterStrictly(json), runAt, toName };
      checkBulkRequest(request); // the stored request might be invalid
      const counts = selectionOf(request) === null ? noJobs : await this.#reader.counts();
      const scope = { request, queueIds: await this.#reader.queueIds(request.filter), counts, limit: chunk };
      const step = await this.#step(id, scope);
      if (step !== null && step.changed > 0) await this.#notifyChanged(action, step.queues);
      return step !== null;
    } catch (error) {
      if (error instanceof StorageUnavailableError) throw error;
      await this.#database.query(sql.endBulk, [id, 'failed', String(error)]);
      return true;
    }
  }

  /**
   * Processes the next jobs of an operation. After a data error, retries with half as many jobs, down to one job. If
   * this job fails too, sets it aside and skips it. Resolves to `null` if another server is working on the operation or
   * the operation has ended.
   */
  async #step(id: string, scope: Scope): Promise<Step | null> {
    for (let limit = chunk; ; limit = Math.ceil(limit / 2)) {
      try {
        return await this.#database.transaction(async (client) => {
          const { rows } = await client.query<sql.BulkRow>(sql.claimBulk, [id]);
          return rows[0] === undefined ? null : advanceOperation(client, { ...scope, limit }, rows[0]);
        });
      } catch (error) {
        if (!isOfData(error)) throw error;
        if (limit === 1) return this.#skipFailingJob(id, scope, error);
      }
    }
  }

  async #skipFailingJob(id: string, scope: Scope, error: unknown): Promise<Step | null> {
    return this.#database.transaction(async (client) => {
      const { rows } = await client.query<sql.BulkRow>(sql.claimBulk, [id]);
      if (rows[0] === undefined) return null;
      return advanceOperation(client, { ...scope, limit: 1 }, rows[0], async ({ queueId, id: jobId }) => {
        const key = bulkKey(scope.request.action, jobId);
        await this.#setAside.put(client, { role: 'bulk', key, queueId, jobId }, error);
      });
    });
  }

  async #notifyChanged(action: BulkAction, queueIds: readonly number[]): Promise<void> {
    if (action === 'delete') return;
    this.#notify(outbox);
    if (action === 'cancel') return this.#notify({ kind: 'cancel' });
    if (action === 'reschedule') return this.#notify({ kind: 'due', inMs: 0 });
    for (const queueId of queueIds) this.#notify(readyIn(await this.#queues.nameOf(queueId)));
  }

  async #count(request: Pick<BulkRequest, 'action' | 'filter'>): Promise<JobCount | null> {
    const state = statesOfRequest(request);
    if (state.length === 0) return { count: 0, exact: true };
    try {
      return await this.#reader.count({ ...request.filter, state });
    } catch (error) {
      if (error instanceof StorageUnavailableError) return null;
      throw error;
    }
  }
}

interface Scope {
  readonly request: BulkRequest;
  /** Ids of the queues that the filter names; `undefined` if it names none. */
  readonly queueIds: readonly number[] | undefined;
  /** Maps queue ids to job counts by state; empty unless the filter selects jobs by id. */
  readonly counts: ReadonlyMap<number, StateCounts>;
  /** Maximum number of jobs in one step. */
  readonly limit: number;
}

interface Step {
  /** The position reached; `null` at the end of the table. */
  readonly end: sql.Position | null;
  readonly seen: number;
  readonly changed: number;
  /** Number of dependents that wait again. */
  readonly restored: number;
  readonly queues: readonly number[];
}

const noStep: Step = { end: null, seen: 0, changed: 0, restored: 0, queues: [] };

/** Called with the position of a job that is skipped. */
type SkipJob = (position: sql.Position) => Promise<void>;

/**
 * Processes one chunk of an operation and saves the progress. The operation's row must be locked. With `skipJob`, skips
 * the next job instead.
 */
async function advanceOperation(
  client: Connection,
  scope: Scope,
  row: sql.BulkRow,
  skipJob?: SkipJob,
): Promise<Step> {
  const walk = new BulkWalk(scope.request, scope.queueIds);
  const cursor = row.cursor ?? walk.start;
  const step = cursor === null ? noStep : await stepFrom(client, scope, row, cursor, walk.last, skipJob);
  const next = cursor === null ? null : walk.next(cursor, step.end, step.changed);
  const seen = seenBy(step, next === null, row, selectionOf(scope.request));
  await client.query(sql.advanceBulk, [
    row.id,
    JSON.stringify(next),
    seen,
    step.changed,
    seen - step.changed,
    next === null,
    step.restored,
  ]);
  return step;
}

async function stepFrom(
  client: Connection,
  { request, queueIds, counts, limit }: Scope,
  row: sql.BulkRow,
  after: sql.Cursor,
  last: sql.Position,
  skipJob?: SkipJob,
): Promise<Step> {
  const { place } = after;
  const { state } = placeTables[place];
  const remaining = remainingOf(row);
  if (remaining === 0) return noStep;
  const selected = selectionOf(request) !== null;
  const to = selected ? last : await endOfWindow(client, after, last);
  const chunkRequest = {
    ...request,
    place,
    // For jobs selected by id, searches only the queues that have jobs in this state.
    queueIds: selected ? queuesWith(counts, place, queueIds) : queueIds,
    details: { reason: row.reason, runAt: row.run_at, toName: row.to_name },
    operationId: row.id,
    asOf: row.as_of,
    firstId: isFinished(state) ? row.first_ids[state] : undefined,
    after,
    to,
    limit: Math.min(limit, remaining),
  };
  if (skipJob !== undefined) {
    const { rows } = await client.query<{ queue_id: number; id: string }>(bulkNext(chunkRequest));
    const [next] = rows;
    if (next === undefined) return { ...noStep, end: to === last ? null : to };
    const end = { queueId: next.queue_id, id: next.id };
    await skipJob(end);
    return { ...noStep, end, seen: 1 };
  }
  const { rows } = await client.query<ChunkRow>(bulkChunk(chunkRequest));
  const [chunkRow] = rows;
  if (chunkRow === undefined) throw new Error('A chunk of a bulk operation returned no row');
  const { queue_id: queueId, id, ...counted } = chunkRow;
  const restored = row.dependents
    ? await restoreDependents(runOnConnection(client), counted.parents, row.visible_queues)
    : 0;
  const full = counted.seen === chunkRequest.limit && queueId !== null && id !== null;
  if (full) return { ...counted, restored, end: { queueId, id } };
  return { ...counted, restored, end: to === last ? null : to };
}

/** Returns how many more jobs the operation can change; `Infinity` if there is no limit. */
function remainingOf({ max_jobs: maxJobs, changed }: sql.BulkRow): number {
  return maxJobs === null ? Infinity : Math.max(0, Number(maxJobs) - Number(changed));
}

/**
 * Returns how many jobs a step adds to the operation's `seen` count. If jobs are selected by id, unchanged jobs are
 * added only at the end, because a later step can still change them.
 */
function seenBy(
  { seen, changed }: Step,
  ended: boolean,
  row: sql.BulkRow,
  selection: ReadonlySet<string> | null,
): number {
  if (selection === null) return seen;
  return ended ? selection.size - Number(row.seen) : changed;
}

async function endOfWindow(client: Connection, after: sql.Cursor, last: sql.Position): Promise<sql.Position> {
  const { rows } = await client.query<{ queue_id: number; id: string }>(windowEnds[after.place], [
    after.queueId,
    after.id,
    last.queueId,
    last.id,
    window,
  ]);
  const [row] = rows;
  return row === undefined ? last : { queueId: row.queue_id, id: row.id };
}

function queuesWith(
  counts: ReadonlyMap<number, StateCounts>,
  place: Place,
  queueIds: readonly number[] | undefined,
): number[] {
  const { state } = placeTables[place];
  return (queueIds ?? [...counts.keys()]).filter((id) => (counts.get(id)?.[state] ?? 0) > 0);
}
