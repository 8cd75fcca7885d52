import type { Claim, JobSignal, NewStep, Step } from '@longshore/jobs/storage';
import { readError, readTime } from '../connection/stored-value.js';
import type { SignalRow, StepColumn, StepRow } from './steps.sql.js';
import { storedColumns } from './steps.sql.js';

export function toStep(row: StepRow): Step {
  return {
    name: row.name,
    kind: row.kind,
    state: row.state,
    position: row.position,
    result: row.result,
    error: readError(row.error),
    isRemembered: row.is_remembered,
    attempts: row.attempts,
    until: row.until === null ? null : readTime(row.until),
    signals: row.signals,
    childId: row.child_id,
    input: row.input,
    jobAttempt: row.job_attempt,
    serverId: row.server_id,
    startedAt: readTime(row.started_at),
    finishedAt: row.finished_at === null ? null : readTime(row.finished_at),
  };
}

export function toSignal({ name, id, data, at, sent_by: sentBy }: SignalRow): JobSignal {
  return { name, id, data, at: readTime(at), sentBy };
}

/** A step to store, and the claim of the attempt that ran it. */
export interface ClaimedStep {
  readonly claim: Claim;
  readonly step: NewStep;
}

const columns: Readonly<Record<StepColumn, (step: NewStep) => unknown>> = {
  name: ({ name }) => name,
  kind: ({ kind }) => kind,
  state: ({ state }) => state,
  position: ({ position }) => position,
  result: ({ result }) => (result === 'null' ? null : result),
  error: ({ error }) => (error === null ? null : JSON.stringify(error)),
  is_remembered: ({ isRemembered }) => isRemembered,
  attempts: ({ attempts }) => attempts,
  until: ({ until }) => until?.toISOString() ?? null,
  signals: ({ signals }) => signals,
  child_id: ({ childId }) => childId,
  input: ({ input }) => input,
  started_at: ({ startedAt }) => startedAt.toISOString(),
  finished_at: ({ finishedAt }) => finishedAt?.toISOString() ?? null,
};

/**
 * Returns the values of the steps' columns as parallel lists: the parameters of `recordSteps` that follow the claims. A list of
 * nulls is `null`, which is cheaper to send and to parse.
 */
export function valuesOfSteps(steps: readonly NewStep[]): (unknown[] | null)[] {
  return storedColumns.map((column) => {
    const values = steps.map(columns[column]);
    return values.every((value) => value === null) ? null : values;
  });
}
