import type { Clock } from '../job/clock.js';
import { ClaimLostError } from '../job/errors.js';
import type { Claim, Job, JsonText, JsonValue } from '../job/job.js';
import type { JobMeta } from '../job/meta.js';
import { isFinished } from '../job/state.js';
import { endSignal, type JobEnd, jobSignalPrefix, type NewStep, type StepHistory } from '../job/step.js';
import type { ControlOptions } from '../storage/job-control.js';
import {
  type CheckedSignal,
  checkSignal,
  maxSignals,
  maxSignalsBytes,
  type NewSignal,
  type RerunResult,
  rerunStates,
  type SignalOptions,
  type SignalResult,
  type Steps,
} from '../storage/steps.js';
import type { TransactionClient } from '../storage/transaction.js';
import { hasLease, type JobRecord, toJob } from './job-record.js';
import type { MemoryAuditLog } from './memory-audit.js';
import type { MemoryJobs } from './memory-jobs.js';
import { refuseTransaction } from './refuse-transaction.js';

/** What the steps need of the other parts of the storage. */
interface StepParts {
  readonly jobs: MemoryJobs;
  readonly clock: Clock;
  readonly audit: MemoryAuditLog;
  /** Runs work in a transaction, and `store` right after its commit. */
  readonly inTransaction: <Result>(
    claim: Claim,
    work: (client: TransactionClient) => Promise<Result>,
    signal: AbortSignal | undefined,
    store: (record: JobRecord, result: Result) => void,
  ) => Promise<void>;
  readonly retry: (jobId: string) => Promise<unknown>;
  readonly cancel: (jobId: string) => Promise<unknown>;
}

export class MemorySteps implements Steps {
  readonly #parts: StepParts;

  constructor(parts: StepParts) {
    this.#parts = parts;
  }

  async read({ id }: Pick<Job, 'id'>): Promise<StepHistory> {
    const record = this.#parts.jobs.find(id);
    if (record === undefined) return { steps: [], signals: [] };
    const steps = [...record.steps.values()].toSorted((one, other) => one.position - other.position);
    return structuredClone({ steps, signals: record.signals });
  }

  async record(claim: Claim, steps: readonly NewStep[]): Promise<void> {
    const record = this.#parts.jobs.find(claim.jobId);
    if (!hasLease(record, claim)) throw new ClaimLostError(claim.jobId);
    for (const step of steps) store(record, step);
  }

  async recordInTransaction(
    claim: Claim,
    work: (client: TransactionClient) => Promise<NewStep>,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#parts.inTransaction(claim, work, signal, store);
  }

  async listCorrelated(correlate: string, limit: number): Promise<Pick<Job, 'id' | 'queue'>[]> {
    return [...this.#parts.jobs.all()]
      .filter(({ state, meta }) => !isFinished(state) && meta?.correlate === correlate)
      .map(({ id, queue }) => ({ id, queue }))
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))
      .slice(0, limit);
  }

  async signal(jobId: string, signal: NewSignal, options: SignalOptions = {}): Promise<SignalResult> {
    const { jobs, audit } = this.#parts;
    const { transaction } = options;
    if (transaction !== undefined && transaction.afterCommit === undefined) refuseTransaction(transaction);
    const checked = checkSignal(signal);
    const { visibleQueues = null } = options;
    const record = jobs.find(jobId);
    const isVisible = record !== undefined && (visibleQueues?.includes(record.queue) ?? true);
    if (!isVisible) {
      audit.addOf(options, { outcome: 'unknown' });
      return { outcome: 'unknown' };
    }
    options.check?.(toJob(record));
    const isNew = !record.signals.some(({ name, id }) => name === checked.name && id === checked.id);
    const isExcess = isNew && isFull(record);
    const resultOf = (job: Job): SignalResult => {
      if (isFinished(record.state)) return { outcome: 'illegal', job };
      if (isExcess) return { outcome: 'full', job };
      return { outcome: 'ok', job, changed: isNew, signalId: checked.id };
    };
    const result = resultOf(toJob(record));
    audit.addOf(options, result);
    const deliver = (): void => {
      if (result.outcome === 'ok' && isNew) this.#deliver(record, checked);
    };
    if (transaction === undefined) deliver();
    else transaction.afterCommit?.(deliver);
    return resultOf(toJob(record));
  }

  async rerunFrom(
    jobId: string,
    step: string,
    options: ControlOptions<Job, RerunResult> = {},
  ): Promise<RerunResult> {
    const { jobs, audit, retry } = this.#parts;
    refuseTransaction(options.transaction);
    const record = jobs.find(jobId);
    if (record !== undefined) options.check?.(toJob(record));
    const from = record?.steps.get(step);
    const dropped = [...(record?.steps.values() ?? [])].filter(
      ({ position }) => from !== undefined && position >= from.position,
    );
    const resultOf = (job: Job | undefined): RerunResult => {
      if (job === undefined) return { outcome: 'unknown' };
      if (!(rerunStates as readonly string[]).includes(job.state)) return { outcome: 'illegal', job };
      if (from === undefined) return { outcome: 'unknownStep', job };
      return { outcome: 'ok', job, dropped: dropped.map(({ name }) => name) };
    };
    const result = resultOf(record && toJob(record));
    audit.addOf(options, result);
    if (record === undefined || result.outcome !== 'ok') return result;
    for (const { name } of dropped) record.steps.delete(name);
    if (record.state === 'scheduled') jobs.makeReady(record, 'retried');
    else await retry(record.id);
    return { ...result, job: toJob(record) };
  }

  /** Called when a job has ended. Signals the job that waits for it. If it was cancelled, also cancels its `cancels`. */
  ended({ id, state, result, error, meta }: JobRecord): void {
    const { resumes, cancels = [] } = meta ?? {};
    const parent = resumes === undefined ? undefined : this.#parts.jobs.find(resumes);
    if (isFinished(state) && parent !== undefined && !isFinished(parent.state)) {
      const end: JobEnd = { state, result: JSON.parse(result) as JsonValue, error };
      this.#deliver(parent, { name: endSignal(id), id, data: JSON.stringify(end), sentBy: null });
    }
    if (state === 'cancelled') for (const child of cancels) void this.#parts.cancel(child);
  }

  #deliver(record: JobRecord, { name, id, data, sentBy }: CheckedSignal): void {
    const { jobs, clock } = this.#parts;
    const at = new Date(clock.now());
    if (record.signals.some((signal) => signal.name === name && signal.id === id)) return;
    if (isFinished(record.state)) return; // meanwhile
    if (!name.startsWith(jobSignalPrefix)) record.signalBytes += Buffer.byteLength(data);
    record.signals.push({ name, id, data: JSON.parse(data) as JsonValue, at, sentBy });
    if (record.state === 'scheduled' && hasAwaited(record)) jobs.schedule(record, at, null);
  }
}

/** Returns whether a job has so many signals that it accepts no further one. */
function isFull({ signals, signalBytes }: JobRecord): boolean {
  if (signalBytes >= maxSignalsBytes) return true;
  return signals.filter(({ name }) => !name.startsWith(jobSignalPrefix)).length >= maxSignals;
}

/** Returns whether a job has all signals of a name that it waits for. */
export function hasAwaited({ meta, signals }: JobRecord): boolean {
  return Object.entries(meta?.awaits ?? {}).some(
    ([name, needed]) => signals.filter((signal) => signal.name === name).length >= needed,
  );
}

/** Returns the metadata of a job that no longer waits for signals. */
export function withoutAwaits(meta: JobMeta | null): JobMeta | null {
  if (meta?.awaits === undefined) return meta;
  const { awaits: _, cancels: __, ...rest } = meta;
  return Object.keys(rest).length === 0 ? null : rest;
}

/** Stores a step of the current attempt. */
function store(record: JobRecord, step: NewStep): void {
  const { attempt, serverId } = record;
  record.steps.set(step.name, {
    ...structuredClone(step),
    result: parsed(step.result),
    jobAttempt: attempt,
    serverId: serverId ?? '',
  });
}

function parsed(text: JsonText): JsonValue {
  return JSON.parse(text) as JsonValue;
}
