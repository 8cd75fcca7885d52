import type { Job, TransactionClient } from '@longshore/jobs';
import {
  checkSignal,
  type Claim,
  ClaimLostError,
  type ControlOptions,
  isFinished,
  type NewSignal,
  type NewStep,
  outbox,
  readyIn,
  type RerunResult,
  rerunStates,
  type SignalOptions,
  type SignalResult,
  type StepHistory,
  type Steps,
} from '@longshore/jobs/storage';
import type { PostgresCompletions } from '../complete/completions.js';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { isOfData } from '../connection/errors.js';
import { RequestCoalescer } from '../connection/request-coalescer.js';
import { afterCommit } from '../connection/run.js';
import { lockedRow, moveFirst } from '../control/job-control.js';
import { claimArrays } from '../jobs/claim-arrays.js';
import { findCorrelated, type LiveRow } from '../jobs/signals.sql.js';
import { findRowOn, toJob } from '../jobs/job-row.js';
import type { Notifier } from '../notifications/notifier.js';
import type { QueueIdCache, QueueIds } from '../queues/queue-id-cache.js';
import { inTransaction } from '../records/audit.js';
import { type ClaimedStep, toSignal, toStep, valuesOfSteps } from './step-rows.js';
import {
  deleteSteps,
  type HistoryRow,
  lockStepsFrom,
  readSteps,
  recordSteps,
  storeSignal,
} from './steps.sql.js';

/** Stores steps and signals. Calls in the same turn of the event loop share a statement if their jobs are in one queue. */
export class PostgresSteps implements Steps {
  readonly #database: Database;
  readonly #queues: QueueIdCache;
  readonly #notifier: Notifier;
  readonly #completions: PostgresCompletions;
  readonly #coalescer = new RequestCoalescer();
  /** The jobs to read and the steps to store in this turn, by queue. */
  readonly #toRead = new Map<string, string[]>();
  readonly #toStore = new Map<string, ClaimedStep[]>();

  constructor(
    database: Database,
    queues: QueueIdCache,
    notifier: Notifier,
    completions: PostgresCompletions,
  ) {
    this.#database = database;
    this.#queues = queues;
    this.#notifier = notifier;
    this.#completions = completions;
  }

  async read({ id, queue }: Pick<Job, 'id' | 'queue'>): Promise<StepHistory> {
    addTo(this.#toRead, queue, [id]);
    const histories = await this.#coalescer.share(`read ${queue}`, () =>
      this.#read(queue, takeFrom(this.#toRead, queue)),
    );
    return histories.get(id) ?? { steps: [], signals: [] };
  }

  async #read(queue: string, ids: readonly string[]): Promise<Map<string, StepHistory>> {
    const histories = new Map<
      string,
      { steps: StepHistory['steps'][number][]; signals: StepHistory['signals'][number][] }
    >();
    const [queueId] = await this.#queues.idsOf([queue]);
    if (queueId === undefined) return histories;
    const rows = await this.#database.query<HistoryRow>(readSteps, [queueId, arrayOf([...new Set(ids)])]);
    for (const { job_id: id, step, signal } of rows) {
      let history = histories.get(id);
      if (history === undefined) histories.set(id, (history = { steps: [], signals: [] }));
      if (step !== null) history.steps.push(toStep(step));
      if (signal !== null) history.signals.push(toSignal(signal));
    }
    return histories;
  }

  async record(claim: Claim, steps: readonly NewStep[]): Promise<void> {
    const { queue } = claim;
    addTo(
      this.#toStore,
      queue,
      steps.map((step) => ({ claim, step })),
    );
    const stored = await this.#coalescer.share(`record ${queue}`, () =>
      this.#recordBisecting(queue, takeFrom(this.#toStore, queue)),
    );
    const outcome = stored.get(keyOf(claim));
    if (outcome === 'stored') return;
    throw outcome === undefined ? new ClaimLostError(claim.jobId) : outcome.error;
  }

  /**
   * Stores steps, and returns what became of those of each claim that is valid. After an error that the data of a step has caused,
   * tries each half separately, so that it concerns only the step's own attempt.
   */
  async #recordBisecting(queue: string, steps: readonly ClaimedStep[]): Promise<Map<string, Recorded>> {
    try {
      const claims = await this.#record(queue, steps);
      return new Map(claims.map((key) => [key, 'stored']));
    } catch (error) {
      const [first] = steps;
      if (!isOfData(error) || first === undefined) throw error;
      if (steps.length === 1) return new Map([[keyOf(first.claim), { error }]]);
      const middle = Math.ceil(steps.length / 2);
      const before = await this.#recordBisecting(queue, steps.slice(0, middle));
      const after = await this.#recordBisecting(queue, steps.slice(middle));
      for (const [key, recorded] of after)
        if (before.get(key) === undefined || recorded !== 'stored') before.set(key, recorded);
      return before;
    }
  }

  async #record(queue: string, all: readonly ClaimedStep[]): Promise<string[]> {
    const latest = new Map(all.map((claimed) => [`${keyOf(claimed.claim)} ${claimed.step.name}`, claimed]));
    const values = valuesOf([...latest.values()]);
    const rows = await this.#database.query<{ job_id: string; server_id: string; attempt: number }>(
      recordSteps,
      [await this.#queues.idOf(queue), ...values],
    );
    return rows.map(({ job_id: jobId, server_id: serverId, attempt }) => keyOf({ jobId, serverId, attempt }));
  }

  async recordInTransaction(
    claim: Claim,
    work: (client: TransactionClient) => Promise<NewStep>,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#completions.inTransaction(claim, work, signal, (step, { queueId }) => ({
      statement: recordSteps,
      values: [queueId, ...valuesOf([{ claim, step }])],
    }));
  }

  async listCorrelated(correlate: string, limit: number): Promise<Pick<Job, 'id' | 'queue'>[]> {
    const rows = await this.#database.query<LiveRow>(findCorrelated, [correlate, limit]);
    const names = await Promise.all(rows.map((row) => this.#queues.nameOf(row.queue_id)));
    return rows.map(({ id }, index) => ({ id, queue: names[index] ?? '' }));
  }

  async signal(jobId: string, signal: NewSignal, options: SignalOptions = {}): Promise<SignalResult> {
    const { transaction, check, visibleQueues = null } = options;
    const { name, id, data, sentBy } = checkSignal(signal);
    const result = await inTransaction(
      this.#database,
      options,
      async (run, record): Promise<SignalResult> => {
        const ended = async (result: SignalResult): Promise<SignalResult> => {
          await record(result);
          return result;
        };
        const row = await findRowOn(run, jobId);
        if (row === undefined) return ended({ outcome: 'unknown' });
        const job = toJob(row, await this.#within(transaction).nameOf(row.queue_id));
        if (visibleQueues?.includes(job.queue) === false) return ended({ outcome: 'unknown' });
        check?.(job);
        if (isFinished(job.state)) return ended({ outcome: 'illegal', job });
        const [stored] = await run(storeSignal, [row.queue_id, row.id, name, id, data, sentBy]);
        const { stored: became } = stored as { readonly stored: 'stored' | 'known' | 'full' };
        if (became === 'full') return ended({ outcome: 'full', job });
        return ended({ outcome: 'ok', job, changed: became === 'stored', signalId: id });
      },
    );
    if (result.outcome === 'ok' && result.changed)
      await afterCommit(transaction, this.#database.schema, ['outbox'], () => this.#notifier.notify(outbox));
    return result;
  }

  async rerunFrom(
    jobId: string,
    step: string,
    options: ControlOptions<Job, RerunResult> = {},
  ): Promise<RerunResult> {
    const { transaction, check } = options;
    const result = await inTransaction(this.#database, options, async (run, record): Promise<RerunResult> => {
      const ended = async (result: RerunResult): Promise<RerunResult> => {
        await record(result);
        return result;
      };
      const find = (): ReturnType<typeof findRowOn> => findRowOn(run, jobId);
      for (;;) {
        const row = await lockedRow({ run, find }, jobId);
        if (row === undefined) return ended({ outcome: 'unknown' });
        const { queue_id: queueId, id } = row;
        const queue = await this.#within(transaction).nameOf(queueId);
        const job = toJob(row, queue);
        check?.(job);
        if (!(rerunStates as readonly string[]).includes(job.state))
          return ended({ outcome: 'illegal', job });
        const names = (await run(lockStepsFrom, [queueId, id, step])) as readonly { readonly name: string }[];
        if (names.length === 0) return ended({ outcome: 'unknownStep', job });
        const dropped = names.map(({ name }) => name);
        const move = job.state === 'scheduled' ? 'run' : 'retryIgnoringDependencies';
        if ((await moveFirst(run, move, row)) === undefined) continue; // it has just moved
        await run(deleteSteps, [queueId, id, dropped]);
        const after = await find();
        return ended({ outcome: 'ok', job: after === undefined ? job : toJob(after, queue), dropped });
      }
    });
    if (result.outcome === 'ok')
      await afterCommit(transaction, this.#database.schema, ['ready', 'outbox'], () => {
        this.#notifier.notify(readyIn(result.job.queue));
        this.#notifier.notify(outbox); // a job with a concurrency key is blocked until the outbox relay checks it
      });
    return result;
  }

  #within(transaction: TransactionClient | undefined): QueueIds {
    return transaction === undefined ? this.#queues : this.#queues.within(transaction);
  }
}

/** What became of the steps of a claim. */
type Recorded = 'stored' | { readonly error: unknown };

function keyOf({ jobId, serverId, attempt }: Omit<Claim, 'queue'>): string {
  return `${jobId} ${serverId} ${attempt}`;
}

/** Returns the parameters of `recordSteps` that follow the queue. */
function valuesOf(steps: readonly ClaimedStep[]): unknown[] {
  return [...claimArrays(steps.map(({ claim }) => claim)), ...valuesOfSteps(steps.map(({ step }) => step))];
}

function addTo<Item>(lists: Map<string, Item[]>, key: string, items: readonly Item[]): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [...items]);
  else list.push(...items);
}

function takeFrom<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const list = lists.get(key) ?? [];
  lists.delete(key);
  return list;
}
