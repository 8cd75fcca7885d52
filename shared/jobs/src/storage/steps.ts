import { excessBytes, toJsonText } from '../job/arguments.js';
import { bounds, checkText } from '../job/bounds.js';
import { newId } from '../job/id.js';
import type { Claim, Job, JsonText, JsonValue } from '../job/job.js';
import { jobSignalPrefix, type NewStep, type StepHistory } from '../job/step.js';
import { storable } from '../job/storable.js';
import type { ControlOptions } from './job-control.js';
import type { TransactionClient } from './transaction.js';

/** A signal to send. */
export interface NewSignal {
  /** 1 to 200 characters. */
  readonly name: string;
  /** JSON of at most 1 MiB; `null` by default. */
  readonly data?: JsonValue;
  /** 1 to 200 characters. If the job has a signal of this name and id already, nothing changes. A new id by default. */
  readonly id?: string;
  /** Who sends it; `null` by default. Shortened to 200 characters. */
  readonly sentBy?: string | null;
}

/** A signal as it is stored. */
export interface CheckedSignal {
  readonly name: string;
  readonly id: string;
  readonly data: JsonText;
  readonly sentBy: string | null;
}

/** Maximum number of jobs that a signal by a key reaches. */
export const maxSignalled = 1_000;

/** Maximum size of the data of a signal, in bytes. */
export const maxSignalBytes = 1_048_576;

/** Maximum number of signals of a job, without those that announce the ends of jobs. Every attempt reads all of them. */
export const maxSignals = 10_000;

/** How many bytes the data of a job's signals may take, as JSON, before the job accepts no further one. */
export const maxSignalsBytes = 16_777_216;

/** Says why a job accepts no further signal, and what to do, to follow the job in a sentence. */
export const tooManySignals = `has ${maxSignals} signals, or their data takes ${maxSignalsBytes} bytes, so it accepts no more: let the handler wait for fewer signals, or split the job with enqueueAndWait`;

/**
 * Checks a signal and fills in its defaults.
 *
 * @throws {RangeError} if its name or id is out of bounds, its data is too large, or the name is one of Longshore's own
 * @throws {InvalidArgumentsError} if its data is not JSON
 */
export function checkSignal({ name, data = null, id = newId(), sentBy = null }: NewSignal): CheckedSignal {
  checkText('The name of a signal', name, bounds.keyLength);
  if (name.startsWith(jobSignalPrefix))
    throw new RangeError(
      `Names of signals that begin with "${jobSignalPrefix}" announce the ends of jobs: use another name`,
    );
  checkText('The id of a signal', id, bounds.keyLength);
  const text = toJsonText(data, 'data');
  const bytes = excessBytes(text, maxSignalBytes);
  if (bytes !== null)
    throw new RangeError(
      `The data of a signal must take at most ${maxSignalBytes} bytes as JSON, not ${bytes}: store it elsewhere, and send where it is`,
    );
  return { name, id, data: text, sentBy: sentBy === null ? null : storable(sentBy, 200) };
}

export interface SignalOptions extends ControlOptions<Job, SignalResult> {
  /** The queues whose jobs the caller may see; by default, and if `null`, all. */
  readonly visibleQueues?: readonly string[] | null;
}

export type SignalResult =
  /** `changed` is `false` if the job had a signal of this name and id already. */
  | { readonly outcome: 'ok'; readonly job: Job; readonly changed: boolean; readonly signalId: string }
  /** The job has ended; nothing was stored. */
  | { readonly outcome: 'illegal'; readonly job: Job }
  /** The job has {@link maxSignals} signals, or their data takes {@link maxSignalsBytes}; nothing was stored. */
  | { readonly outcome: 'full'; readonly job: Job }
  /** There is no such job. */
  | { readonly outcome: 'unknown' };

export type RerunResult =
  /** The steps with the names in `dropped` were deleted, and the job is ready again. */
  | { readonly outcome: 'ok'; readonly job: Job; readonly dropped: readonly string[] }
  /** The job's state does not allow it; nothing changed. */
  | { readonly outcome: 'illegal'; readonly job: Job }
  /** The job has no such step. */
  | { readonly outcome: 'unknownStep'; readonly job: Job }
  | { readonly outcome: 'unknown' };

/** Stores the steps of jobs, and the signals that they wait for. */
export interface Steps {
  /** Returns all steps and signals of a job, from one moment; none if the job is unknown. */
  read(job: Pick<Job, 'id' | 'queue'>): Promise<StepHistory>;
  /**
   * Stores steps of a running attempt; each replaces the step of its name. Fenced: changes nothing if the claim is no
   * longer valid. Calls may be combined into one write.
   *
   * @throws {ClaimLostError} if the claim is not valid
   */
  record(claim: Claim, steps: readonly NewStep[]): Promise<void>;
  /**
   * Runs the work of a step and stores the step in the same transaction. The claim is checked first and stays locked
   * until the commit.
   *
   * @param work receives the transaction's client and returns the step to store
   * @param signal when aborted, rolls back the transaction, even while `work` is running. The call then rejects with
   *   the signal's reason. An abort during the commit has no effect
   * @throws {ClaimLostError} if the claim is not valid; `work` was either not started or rolled back
   * @throws {TypeError} if the storage does not support transactions
   */
  recordInTransaction(
    claim: Claim,
    work: (client: TransactionClient) => Promise<NewStep>,
    signal?: AbortSignal,
  ): Promise<void>;
  /** Lists up to `limit` unfinished jobs that were enqueued with this `correlate` key, oldest first. */
  listCorrelated(correlate: string, limit: number): Promise<Pick<Job, 'id' | 'queue'>[]>;
  /**
   * Sends a signal to an unfinished job. It is kept until the job waits for it, and wakes the job if it is suspended and
   * now has as many signals of this name as it waits for.
   *
   * @throws {RangeError} if the name, the id or the data is out of bounds
   */
  signal(jobId: string, signal: NewSignal, options?: SignalOptions): Promise<SignalResult>;
  /**
   * Deletes a step and all steps that started later, and makes the job ready again, as a retry does. Its signals stay.
   * Allowed while the job is scheduled, and when it has failed or was cancelled.
   */
  rerunFrom(jobId: string, step: string, options?: ControlOptions<Job, RerunResult>): Promise<RerunResult>;
}

/** The states of a job in which {@link Steps.rerunFrom} is allowed. */
export const rerunStates = ['scheduled', 'failed', 'cancelled'] as const;
