import { compareTexts } from '@longshore/edge';
import { readyIn, dueAt } from '../storage/notification.js';
import { isDeepStrictEqual } from 'node:util';
import type { Queue, Server, StateCounts } from '../job/job.js';
import { checkConcurrency } from '../job/concurrency.js';
import { checkName } from '../job/definition.js';
import { checkPause, isPausedAt, isSamePause, notPaused, pauseSince } from '../job/pause.js';
import { changesInCode, type QueuesInCode, toQueueInCode } from '../job/queue-in-code.js';
import { checkQueueLimits, type QueueLimits } from '../job/queue-limits.js';
import { isFinished } from '../job/state.js';
import type { ActionOptions } from '../storage/audit-log.js';
import type { Clock } from '../job/clock.js';
import {
  type BlockingKey,
  type BlockingKeys,
  type KeyLimiting,
  type PauseQueueOptions,
  type QueueControlOptions,
  type QueueControlResult,
  type QueueCreation,
  type QueueDeletion,
  type Queues,
  type QueueSettings,
  maxOldLimits,
} from '../storage/queues.js';
import {
  auditOfCode,
  checkQueuesInCode,
  type QueueSynchronization,
} from '../storage/queue-synchronization.js';
import type { MemoryAuditLog } from './memory-audit.js';
import { countStates } from './memory-job-reader.js';
import type { JobRecord } from './job-record.js';
import type { MemoryJobs } from './memory-jobs.js';
import type { MemoryServers } from './memory-servers.js';
import type { QueueRecord } from './queue-records.js';
import { refuseTransaction } from './refuse-transaction.js';
import type { Deployments } from '../storage/deployments.js';
import {
  admissionMs,
  checkQuota,
  type CreatedKind,
  type QuotaLimits,
  type Quotas,
} from '../storage/quotas.js';
import type { MemoryRecurringJobs } from './memory-recurring.js';

export class MemoryQueues implements Queues {
  readonly #jobs: MemoryJobs;
  readonly #servers: MemoryServers;
  readonly #clock: Clock;
  readonly #audit: MemoryAuditLog;

  constructor(jobs: MemoryJobs, servers: MemoryServers, clock: Clock, audit: MemoryAuditLog) {
    this.#audit = audit;
    this.#jobs = jobs;
    this.#servers = servers;
    this.#clock = clock;
  }

  async find(name: string): Promise<Queue | null> {
    const queue = this.#jobs.queues.get(name);
    if (queue === undefined) return null;
    return toQueue(name, queue, {
      counts: countStates([...this.#jobs.all()].filter((job) => job.queue === name)),
      running: this.#running(),
      now: this.#clock.now(),
    });
  }

  async list(): Promise<Queue[]> {
    const counts = new Map<string, StateCounts>();
    for (const name of this.#jobs.queues.keys()) counts.set(name, countStates([]));
    for (const { queue, state } of this.#jobs.all()) {
      const counted = counts.get(queue);
      if (counted !== undefined) counted[state]++;
    }
    const running = this.#running();
    const now = this.#clock.now();
    return [...this.#jobs.queues]
      .toSorted(([left], [right]) => compareTexts(left, right))
      .map(([name, queue]) =>
        toQueue(name, queue, { counts: counts.get(name) ?? countStates([]), running, now }),
      );
  }

  async listBlockingKeys(queue?: string): Promise<BlockingKeys> {
    const keys = [...this.#jobs.queues]
      .filter(([name]) => queue === undefined || name === queue)
      .flatMap(([name, { keys: ofQueue }]) =>
        ofQueue.blocking().map(({ key, blocked, occupants }) => ({
          queue: name,
          key,
          blocked: { count: blocked.length, exact: true },
          details: detailsOf(blocked, occupants),
        })),
      )
      .toSorted((one, other) => other.blocked.count - one.blocked.count);
    return { keys, isComplete: true };
  }

  async create(
    name: string,
    limits: QueueLimits = {},
    options: ActionOptions<QueueCreation> = {},
  ): Promise<QueueCreation> {
    refuseTransaction(options.transaction);
    checkName('queue', name);
    const { concurrencyLimit = null, rateLimit = null } = checkQueueLimits(limits);
    const creation = this.#jobs.queues.has(name) ? 'exists' : 'created';
    if (creation === 'created') Object.assign(this.#jobs.queue(name), { concurrencyLimit, rateLimit });
    this.#audit.addOf(options, creation);
    return creation;
  }

  async pause(name: string, options: PauseQueueOptions = {}): Promise<QueueControlResult> {
    const now = this.#clock.now();
    const pause = checkPause(options, now);
    return this.#set(name, options, (queue, before) => {
      if (isSamePause(before, pause)) return;
      queue.pause = pauseSince(new Date(now), pause);
      this.#jobs.notifications.notify(dueAt('pause', pause.until, now));
    });
  }

  async resume(name: string, options?: QueueControlOptions<QueueControlResult>): Promise<QueueControlResult> {
    return this.#set(name, options, (queue) => {
      queue.pause = notPaused;
      this.#jobs.notifications.notify(readyIn(name));
    });
  }

  async limit(
    name: string,
    limits: QueueLimits,
    options?: QueueControlOptions<QueueControlResult>,
  ): Promise<QueueControlResult> {
    const { concurrencyLimit, rateLimit } = checkQueueLimits(limits);
    return this.#set(name, options, (queue) => {
      if (concurrencyLimit !== undefined) queue.concurrencyLimit = concurrencyLimit;
      if (rateLimit !== undefined) queue.rateLimit = rateLimit;
      this.#jobs.notifications.notify(readyIn(name));
    });
  }

  async limitKey(
    name: string,
    key: string,
    limit: number,
    options: ActionOptions<KeyLimiting> = {},
  ): Promise<KeyLimiting> {
    refuseTransaction(options.transaction);
    checkConcurrency({ key, limit });
    const keys = this.#jobs.queues.get(name)?.keys;
    const limits = keys?.blockedBy(key).map(({ meta }) => meta?.concurrencyLimit ?? 1) ?? [];
    const before = [...new Set(limits)].toSorted((one, other) => one - other).slice(0, maxOldLimits);
    const limiting = { changed: limits.filter((other) => other !== limit).length, before };
    this.#audit.addOf(options, limiting);
    const now = this.#clock.now();
    keys?.limit(key, limit, now);
    this.#jobs.wakeKeys();
    const wakeAtMs = keys?.wakeAtMs ?? null;
    this.#jobs.notifications.notify(dueAt('due', wakeAtMs === null ? null : new Date(wakeAtMs), now));
    return limiting;
  }

  async delete(name: string, options: QueueControlOptions<QueueDeletion> = {}): Promise<QueueDeletion> {
    refuseTransaction(options.transaction);
    const deletion = this.#deletionOf(name, options.seen);
    this.#audit.addOf(options, deletion);
    if (deletion === 'deleted') this.#jobs.retireQueue(name);
    return deletion;
  }

  async synchronize(application: string, queues: QueuesInCode): Promise<QueueSynchronization> {
    const inCode = checkQueuesInCode('synchronize', application, queues);
    const report: QueueSynchronization = { changed: [], differing: [], refused: [] };
    const owned = [...this.#jobs.queues].flatMap(([name, queue]) =>
      queue.inCode?.application === application ? [name] : [],
    );
    const now = this.#clock.now();
    for (const name of new Set([...inCode.keys(), ...owned])) {
      const queue = this.#jobs.queue(name);
      if (queue.inCode !== null && queue.inCode.application !== application) {
        report.refused.push(name);
        continue;
      }
      const after = inCode.get(name) ?? null;
      const settings = settingsOf(queue, now);
      const changes = changesInCode(queue.inCode, after, settings);
      const { paused, ...limits } = changes;
      for (const entry of auditOfCode(application, name, changes, settings)) this.#audit.add(entry);
      Object.assign(queue, checkQueueLimits(limits));
      if (paused === true)
        queue.pause = pauseSince(new Date(now), { by: application, reason: null, until: null });
      if (paused === false) queue.pause = notPaused;
      if (Object.keys(changes).length > 0) report.changed.push(name);
      queue.inCode = after;
      if (toQueueInCode(after, settingsOf(queue, now))?.differs.length) report.differing.push(name);
      this.#jobs.notifications.notify(readyIn(name));
    }
    return report;
  }

  #set(
    name: string,
    options: QueueControlOptions<QueueControlResult> = {},
    change: (queue: QueueRecord, before: QueueSettings) => void,
  ): QueueControlResult {
    refuseTransaction(options.transaction);
    const queue = this.#jobs.queue(name);
    const settings = settingsOf(queue, this.#clock.now());
    const before = isAsSeen(settings, options.seen) ? settings : null;
    this.#audit.addOf(options, before);
    if (before !== null) change(queue, before);
    return before;
  }

  #deletionOf(name: string, seen: QueueSettings | undefined): QueueDeletion {
    const queue = this.#jobs.queues.get(name);
    if (queue === undefined) return 'unknown';
    if ([...this.#jobs.all()].some((record) => record.queue === name && !isFinished(record.state)))
      return 'holds-jobs';
    if (this.#servers.all().some(({ queues }) => queues.includes(name))) return 'served';
    return isAsSeen(settingsOf(queue, this.#clock.now()), seen) ? 'deleted' : 'changed';
  }

  #running(): Server[] {
    return this.#servers.all().filter(({ state }) => state === 'running');
  }
}

function toQueue(
  name: string,
  queue: QueueRecord,
  { counts, running, now }: { counts: StateCounts; running: readonly Server[]; now: number },
): Queue {
  const { createdAt, ready } = queue;
  const oldest = ready.oldestReadyAt;
  return {
    name,
    counts,
    ...settingsOf(queue, now),
    inCode: toQueueInCode(queue.inCode, settingsOf(queue, now)),
    oldestEnqueuedAt: oldest === undefined ? null : new Date(oldest),
    servers: running.filter(({ queues }) => queues.includes(name)).length,
    createdAt,
  };
}

function detailsOf([next]: readonly JobRecord[], inside: readonly JobRecord[]): BlockingKey['details'] {
  if (next === undefined) return null;
  const started = ({ startedAt }: JobRecord): number => startedAt?.getTime() ?? Infinity;
  return {
    limit: next.meta?.concurrencyLimit ?? 1,
    since: new Date(next.dueAt),
    occupants: inside
      .toSorted((one, other) => started(one) - started(other))
      .slice(0, 10)
      .map(({ id, name, startedAt }) => ({ id, name, startedAt })),
  };
}

function settingsOf({ pause, concurrencyLimit, rateLimit }: QueueRecord, now: number): QueueSettings {
  const state = isPausedAt(pause, now) ? pause : notPaused;
  return { ...state, concurrencyLimit, rateLimit: rateLimit === null ? null : { ...rateLimit } };
}

function isAsSeen(queue: QueueSettings, seen: QueueSettings | undefined): boolean {
  if (seen === undefined) return true;
  const settings = ({ pausedAt, concurrencyLimit, rateLimit }: QueueSettings): object => ({
    paused: pausedAt !== null,
    concurrencyLimit,
    rateLimit,
  });
  return isDeepStrictEqual(settings(queue), settings(seen));
}

interface Creation {
  readonly kind: CreatedKind;
  readonly item: string;
  readonly creator: string;
  readonly admittedAt: number;
}

interface MemoryQuotasParts {
  readonly jobs: MemoryJobs;
  readonly recurring: MemoryRecurringJobs;
  readonly deployments: Pick<Deployments, 'list'>;
  readonly servers: MemoryServers;
  readonly clock: Clock;
}

/** Counts what callers have created. */
export class MemoryQuotas implements Quotas {
  readonly #parts: MemoryQuotasParts;
  #creations: Creation[] = [];

  constructor(parts: MemoryQuotasParts) {
    this.#parts = parts;
  }

  async admit(
    kind: CreatedKind,
    items: readonly string[],
    caller: string,
    limits: QuotaLimits,
  ): Promise<void> {
    const { servers, clock } = this.#parts;
    const existing = new Set(await this.#existing(kind));
    const served = new Set(kind === 'queue' ? (await servers.list()).flatMap(({ queues }) => queues) : []);
    const now = clock.now();
    this.#creations = this.#creations.filter(
      (one) => one.kind !== kind || existing.has(one.item) || now - one.admittedAt < admissionMs,
    );
    const counted = this.#creations.filter((one) => one.kind === kind && !served.has(one.item));
    const coming = [...new Set(items)].filter(
      (item) => !existing.has(item) && !counted.some((one) => one.item === item),
    );
    const byCaller = counted.filter(({ creator }) => creator === caller).length;
    checkQuota(kind, coming, { byCaller, total: counted.length }, limits);
    for (const item of coming) this.#creations.push({ kind, item, creator: caller, admittedAt: now });
  }

  async #existing(kind: CreatedKind): Promise<Iterable<string>> {
    const { jobs, recurring, deployments } = this.#parts;
    if (kind === 'queue') return jobs.queues.keys();
    return (kind === 'deployment' ? await deployments.list() : recurring.all).map(({ id }) => id);
  }

  async defineQueues(queues: readonly string[]): Promise<void> {
    for (const queue of queues) this.#parts.jobs.queue(queue);
    this.#creations = this.#creations.filter(({ kind, item }) => kind !== 'queue' || !queues.includes(item));
  }
}
