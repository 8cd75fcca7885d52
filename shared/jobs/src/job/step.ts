import type { JobError } from './job-error.js';
import type { JsonText, JsonValue } from './json.js';

/**
 * What a step is:
 *
 * - `step`: work of the handler, whose result is kept
 * - `sleep`: waits for a time
 * - `wait`: waits for a signal
 * - `job`: waits for the end of another job, which it has enqueued
 * - `version`: keeps the version of the code with which the job passed
 */
export const stepKinds = ['step', 'sleep', 'wait', 'job', 'version'] as const;

export type StepKind = (typeof stepKinds)[number];

/**
 * How far a step is:
 *
 * - `waiting`: for its time, for signals, or for its next attempt; `until` says how long at most
 * - `done`: later attempts of the job get its result
 * - `failed`: if `isRemembered`, later attempts get its error; otherwise they run it again
 * - `timed-out`: what it waited for did not come by `until`
 */
export const stepStates = ['waiting', 'done', 'failed', 'timed-out'] as const;

export type StepState = (typeof stepStates)[number];

/** One step of a job, as the storage returns it. A job has at most one step of each name. */
export interface Step {
  readonly name: string;
  readonly kind: StepKind;
  readonly state: StepState;
  /** Rises in the order in which the steps of the job first started. */
  readonly position: number;
  /** What the work returned, or the data of the signals; `null` unless the step is done, or timed out. */
  readonly result: JsonValue;
  /** Why its latest attempt failed; `null` if none did, or a later one succeeded. */
  readonly error: JobError | null;
  /** Whether the error of a failed step is final. Always `true` in other states. */
  readonly isRemembered: boolean;
  /** How often its work has run, without runs that were cut off; 0 for other kinds than `step`. */
  readonly attempts: number;
  /** The end of a sleep, the end of a wait at the latest, or the time of the next attempt; `null` for none. */
  readonly until: Date | null;
  /** How many signals it waits for; `null` if it waits for none. */
  readonly signals: number | null;
  /** The job that a step of the kind `job` has enqueued; otherwise `null`. */
  readonly childId: string | null;
  /** A fingerprint of the `input` that the step was given; `null` if it was given none. */
  readonly input: string | null;
  /** The number of the job's attempt that stored it, and the server of that attempt. */
  readonly jobAttempt: number;
  readonly serverId: string;
  readonly startedAt: Date;
  /** `null` while it waits. */
  readonly finishedAt: Date | null;
}

/** A step to store, for the attempt that ran it. */
export interface NewStep extends Omit<Step, 'jobAttempt' | 'serverId' | 'result'> {
  readonly result: JsonText;
}

/** A message to a job, which a handler receives with `waitFor`. */
export interface JobSignal {
  readonly name: string;
  /** Identifies it among the signals of its name to this job. A signal is delivered once, however often it is sent. */
  readonly id: string;
  readonly data: JsonValue;
  /** When it arrived, by the storage's clock. */
  readonly at: Date;
  /** Who sent it; `null` if that is not known. */
  readonly sentBy: string | null;
}

/** What is stored of the steps of one job. */
export interface StepHistory {
  /** By position. */
  readonly steps: readonly Step[];
  /** In the order in which they arrived. */
  readonly signals: readonly JobSignal[];
}

/** The signals that a suspended job waits for: how many of each name it needs. */
export type AwaitedSignals = Readonly<Record<string, number>>;

/** Names of signals that begin with this come from Longshore: the id of the job that has ended follows. */
export const jobSignalPrefix = 'job:';

/** Returns the name of the signal that a job gets when the job that it waits for has ended. */
export function endSignal(childId: string): string {
  return `${jobSignalPrefix}${childId}`;
}

/** The data of the signal that announces the end of a job. */
export interface JobEnd {
  readonly state: 'done' | 'failed' | 'cancelled';
  /** `null` unless it is done. */
  readonly result: JsonValue;
  /** `null` if it is done. */
  readonly error: JobError | null;
}

/** Returns the name of the signal that a step waits for; `null` if it waits for none. */
export function signalOf({ kind, name, childId }: Pick<Step, 'kind' | 'name' | 'childId'>): string | null {
  if (kind === 'job' && childId !== null) return endSignal(childId);
  return kind === 'wait' ? name : null;
}
