import type { JobError } from '@longshore/jobs';

/** The reason why a job was cancelled before it ran: a job or batch that it depends on did not end as required. */
export interface SkipReason {
  readonly parentId: string;
  /** How the parent ended: `failed`, `was cancelled`. */
  readonly ending: string;
}

/** Reads the skip reason from the error of a job; `null` if the job was not skipped. */
export function skipReason(error: JobError | null): SkipReason | null {
  if (error?.name !== 'ContinuationCancelled') return null;
  const [, parentId, ending] = /^Skipped: (\S+) ([^.]+)\./.exec(error.message) ?? [];
  return parentId === undefined || ending === undefined ? null : { parentId, ending };
}
