import { isDeepStrictEqual } from 'node:util';
import { isStorable } from '@longshore/edge';
import type { TransactionClient } from '@longshore/jobs';
import {
  type ActionOptions,
  auditOfCode,
  type BlockingKey,
  type BlockingKeys,
  changesInCode,
  checkConcurrency,
  checkName,
  checkPause,
  checkQueueLimits,
  checkQueuesInCode,
  type Clock,
  isSamePause,
  type KeyLimiting,
  maxTokens,
  outbox,
  type PauseQueueOptions,
  type Queue,
  type QueueControlOptions,
  type QueueControlResult,
  type QueueCreation,
  type QueueDeletion,
  type QueueLimits,
  type Queues,
  type QueuesInCode,
  type QueueSettings,
  type QueueSynchronization,
  type Server,
  type StateCounts,
  type StoredQueueInCode,
  toQueueInCode,
  readyIn,
  dueAt,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { noCounts, type PostgresCounters } from '../queues/counters.js';
import type { QueueIdCache, QueueRow } from '../queues/queue-id-cache.js';
import { afterCommit, type Run, runOnConnection } from '../connection/run.js';
import { QueueHeads } from './queue-heads.js';
import type { Notifier } from '../notifications/notifier.js';
import { type BlockingKeyRow, maxKeys, selectBlockingKeys } from '../dependencies/blocking-keys.sql.js';
import { checkKey, limitBlocked, type LimitedRow, lockKeys } from '../dependencies/concurrency-keys.sql.js';
import { inTransaction, recordEntry } from '../records/audit.js';
import { type PauseRow, pauseValues, toPauseState } from '../queues/pause.sql.js';
import {
  limitQueue,
  lockNewQueue,
  lockQueue,
  pauseQueue,
  resumeQueue,
  type RetiredRow,
  retireQueue,
  selectInCode,
  selectShown,
  setInCode,
} from './queues.sql.js';
import { selectServers, type ServerRow, toServer } from '../servers/servers.sql.js';

/** Maximum id of a queue: the largest Postgres integer. */
const maxQueueId = 2_147_483_647;

interface QueuesParts {
  readonly database: Database;
  readonly reads: Database;
  readonly queues: QueueIdCache;
  readonly counters: PostgresCounters;
  readonly notifier: Notifier;
  readonly clock: Clock;
}

/** Lists and controls queues. */
export class PostgresQueues implements Queues {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #queues: QueueIdCache;
  readonly #counters: PostgresCounters;
  readonly #notifier: Notifier;
  readonly #heads: QueueHeads;
  readonly #clock: Clock;

  constructor({ database, reads, queues, counters, notifier, clock }: QueuesParts) {
    this.#clock = clock;
    this.#database = database;
    this.#reads = reads;
    this.#queues = queues;
    this.#counters = counters;
    this.#notifier = notifier;
    this.#heads = new QueueHeads(reads);
  }

  async find(name: string, transaction?: TransactionClient): Promise<Queue | null> {
    if (!isStorable(name)) return null;
    const row = await this.#queues.find(name, transaction);
    return row === undefined ? null : ((await this.#toQueues([row], row.id))[0] ?? null);
  }

  async create(
    name: string,
    limits: QueueLimits = {},
    options: ActionOptions<QueueCreation> = {},
  ): Promise<QueueCreation> {
    checkName('queue', name);
    const values = limitValues(limits);
    return inTransaction(this.#database, options, async (run, record) => {
      await run(lockNewQueue, [name]);
      const existing = await run(selectShown, [name]);
      if (existing.length === 0) await run(limitQueue, [await this.#queues.using(run).idOf(name), ...values]);
      const creation = existing.length === 0 ? 'created' : 'exists';
      await record(creation);
      return creation;
    });
  }

  list(): Promise<Queue[]> {
    return this.#toQueues(this.#queues.all());
  }

  async listBlockingKeys(queue?: string): Promise<BlockingKeys> {
    const [queueId] = queue === undefined ? [null] : await this.#queues.idsOf([queue].filter(isStorable));
    if (queueId === undefined) return { keys: [], isComplete: true };
    const range = queueId === null ? [1, maxQueueId] : [queueId, queueId];
    const rows = await this.#reads.query<BlockingKeyRow>(selectBlockingKeys, range);
    const keys = rows.map(async (row) => toBlockingKey(row, await this.#queues.nameOf(row.queue_id)));
    return { keys: await Promise.all(keys), isComplete: rows.length < maxKeys };
  }

  async pause(name: string, options: PauseQueueOptions = {}): Promise<QueueControlResult> {
    const pause = checkPause(options, this.#clock.now());
    const before = await this.#set(name, options, async (run, queueId, settings) => {
      if (!isSamePause(settings, pause)) await run(pauseQueue, [queueId, ...pauseValues(pause)]);
    });
    const end = dueAt('pause', pause.until, this.#clock.now());
    if (end !== undefined)
      await afterCommit(options.transaction, this.#database.schema, ['pause'], () =>
        this.#notifier.notify(end),
      );
    return before;
  }

  async resume(
    name: string,
    options: QueueControlOptions<QueueControlResult> = {},
  ): Promise<QueueControlResult> {
    const before = await this.#set(name, options, (run, queueId) => run(resumeQueue, [queueId]));
    await afterCommit(options.transaction, this.#database.schema, ['ready'], () =>
      this.#notifier.notify(readyIn(name)),
    );
    return before;
  }

  async limit(
    name: string,
    limits: QueueLimits,
    options: QueueControlOptions<QueueControlResult> = {},
  ): Promise<QueueControlResult> {
    const values = limitValues(limits);
    const before = await this.#set(name, options, (run, queueId) => run(limitQueue, [queueId, ...values]));
    await afterCommit(options.transaction, this.#database.schema, ['ready'], () =>
      this.#notifier.notify(readyIn(name)),
    );
    return before;
  }

  async limitKey(
    name: string,
    key: string,
    limit: number,
    options: ActionOptions<KeyLimiting> = {},
  ): Promise<KeyLimiting> {
    checkConcurrency({ key, limit });
    const { transaction } = options;
    const queue = isStorable(name) ? await this.#queues.find(name, transaction) : undefined;
    const limiting = await inTransaction(this.#database, options, async (run, record) => {
      const limited = queue === undefined ? unlimited : await limitBlockedJobs(run, queue.id, key, limit);
      await record(limited);
      return limited;
    });
    if (limiting.changed > 0)
      await afterCommit(transaction, this.#database.schema, ['outbox'], () => this.#notifier.notify(outbox));
    return limiting;
  }

  async delete(name: string, options: QueueControlOptions<QueueDeletion> = {}): Promise<QueueDeletion> {
    return inTransaction(this.#database, options, async (run, record) => {
      const [row] = (await run(retireQueue, [name, ...seenValues(options.seen)])) as readonly RetiredRow[];
      const deletion = deletionOf(row);
      await record(deletion);
      return deletion;
    });
  }

  async synchronize(application: string, queues: QueuesInCode): Promise<QueueSynchronization> {
    const inCode = checkQueuesInCode('synchronize', application, queues);
    const stored = await this.#database.query<InCodeRow>(selectInCode, [application, [...inCode.keys()]]);
    const before = new Map(stored.map((row) => [row.name, row.in_code]));
    const report: QueueSynchronization = { changed: [], differing: [], refused: [] };
    for (const name of [...new Set([...inCode.keys(), ...before.keys()])].toSorted()) {
      const after = inCode.get(name) ?? null;
      const was = before.get(name) ?? null;
      if (was !== null && was.application !== application) report.refused.push(name);
      else if (!isDeepStrictEqual(was, after) && (await this.#setInCode(name, application, after)))
        report.changed.push(name);
    }
    const names = new Set([...inCode.keys()].filter((name) => !report.refused.includes(name)));
    for (const row of await this.#queues.all(this.#database))
      if (names.has(row.name) && toQueueInCode(row.in_code, settingsOf(row))?.differs.length)
        report.differing.push(row.name);
    return report;
  }

  /** Applies the settings that code defines now, and returns whether they changed anything. */
  async #setInCode(name: string, application: string, after: StoredQueueInCode | null): Promise<boolean> {
    const queueId = await this.#queues.idOf(name);
    const isChanged = await this.#database.transaction(async (client) => {
      const run = runOnConnection(client);
      const [row] = (await run(lockQueue, [queueId, ...seenValues(undefined)])) as readonly SettingsRow[];
      if (row === undefined) return false;
      const settings = settingsOf(row);
      const changes = changesInCode(row.in_code, after, settings);
      const { paused, ...limits } = changes;
      for (const entry of auditOfCode(application, name, changes, settings)) await recordEntry(run, entry);
      if (Object.keys(limits).length > 0) await run(limitQueue, [queueId, ...limitValues(limits)]);
      if (paused === true) await run(pauseQueue, [queueId, application, null, null]);
      if (paused === false) await run(resumeQueue, [queueId]);
      await run(setInCode, [queueId, after === null ? null : JSON.stringify(after)]);
      return Object.keys(changes).length > 0;
    });
    if (isChanged) this.#notifier.notify(readyIn(name));
    return isChanged;
  }

  /**
   * Changes a queue's settings and returns the previous settings. Changes nothing and returns `null` if the previous
   * settings differ from `options.seen`.
   */
  async #set(
    name: string,
    options: QueueControlOptions<QueueControlResult>,
    change: (run: Run, queueId: number, settings: QueueSettings) => Promise<unknown>,
  ): Promise<QueueControlResult> {
    const { transaction } = options;
    const queues = transaction === undefined ? this.#queues : this.#queues.within(transaction);
    const queueId = await queues.idOf(name);
    return inTransaction(this.#database, options, async (run, record) => {
      const [row] = (await run(lockQueue, [queueId, ...seenValues(options.seen)])) as readonly SettingsRow[];
      const before = row === undefined ? null : settingsOf(row);
      if (before !== null) await change(run, queueId, before);
      await record(before);
      return before;
    });
  }

  /** @param queueId id of the queue if `rows` contains only one; `null` for all queues */
  async #toQueues(
    rows: readonly QueueRow[] | Promise<readonly QueueRow[]>,
    queueId: number | null = null,
  ): Promise<Queue[]> {
    const [queues, counts, oldest, servers] = await Promise.all([
      rows,
      this.#counters.byQueue(queueId === null ? undefined : [queueId]),
      this.#heads.oldestReady(queueId),
      this.#reads.query<ServerRow>(selectServers),
    ]);
    return queues.map((row) =>
      toQueue(row, {
        counts: counts.get(row.id) ?? noCounts(),
        oldestEnqueuedAt: oldest.get(row.id) ?? null,
        servers: servers.map(toServer),
      }),
    );
  }
}

/** Returns the parameters of {@link limitQueue} after the queue. */
function limitValues(limits: QueueLimits): unknown[] {
  const { concurrencyLimit, rateLimit } = checkQueueLimits(limits);
  return [
    concurrencyLimit !== undefined,
    concurrencyLimit ?? null,
    rateLimit !== undefined,
    rateLimit ?? null,
    maxTokens,
  ];
}

const unlimited: KeyLimiting = { changed: 0, before: [] };

/** Sets the limit of the blocked jobs of a key, and has the key checked for room. */
async function limitBlockedJobs(run: Run, queueId: number, key: string, limit: number): Promise<KeyLimiting> {
  await run(lockKeys, [queueId, [key]]);
  const [row = unlimited] = (await run(limitBlocked, [queueId, key, limit])) as readonly LimitedRow[];
  if (row.changed > 0) await run(checkKey, [queueId, key]);
  return row;
}

function settingsOf(row: Omit<SettingsRow, 'in_code'>): QueueSettings {
  return { ...toPauseState(row), concurrencyLimit: row.concurrency_limit, rateLimit: row.rate_limit };
}

function deletionOf(row: RetiredRow | undefined): QueueDeletion {
  if (row === undefined) return 'unknown';
  if (row.holds_jobs) return 'holds-jobs';
  if (row.served) return 'served';
  return row.retired ? 'deleted' : 'changed';
}

/**
 * Returns parameters $2 to $5 of {@link lockQueue} and {@link retireQueue}: the settings that the caller expects the
 * queue to have. If `seen` is undefined, the statements do not compare the settings.
 */
function seenValues(seen: QueueSettings | undefined): unknown[] {
  if (seen === undefined) return [false, null, null, null];
  return [true, seen.pausedAt !== null, seen.concurrencyLimit, seen.rateLimit];
}

type SettingsRow = Pick<QueueRow, keyof PauseRow | 'concurrency_limit' | 'rate_limit' | 'in_code'>;

type InCodeRow = Pick<QueueRow, 'name' | 'in_code'> & Record<string, unknown>;

/** Facts about a queue that are not in its row. */
export interface QueueFacts {
  readonly counts: StateCounts;
  readonly oldestEnqueuedAt: Date | null;
  /** All registered servers. */
  readonly servers: readonly Server[];
}

export function toQueue(row: QueueRow, { counts, oldestEnqueuedAt, servers }: QueueFacts): Queue {
  const { name } = row;
  return {
    name,
    ...settingsOf(row),
    inCode: toQueueInCode(row.in_code, settingsOf(row)),
    counts,
    oldestEnqueuedAt,
    servers: servers.filter(({ state, queues }) => state === 'running' && queues.includes(name)).length,
    createdAt: row.created_at,
  };
}

function toBlockingKey(
  { key, blocked, most, allowed, since, holders }: BlockingKeyRow,
  queue: string,
): BlockingKey {
  const details =
    allowed === null || since === null
      ? null
      : {
          limit: allowed,
          since,
          occupants: (holders ?? []).map(({ id, name, startedAt }) => ({
            id,
            name,
            startedAt: startedAt === null ? null : new Date(startedAt),
          })),
        };
  return { queue, key, blocked: { count: Math.min(blocked, most), exact: blocked <= most }, details };
}
