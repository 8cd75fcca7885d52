import type { JobError } from '@longshore/jobs';

/** The reason why a job was cancelled before it ran: its parent, a job or batch, did not end as required. */
export interface SkipReason {
  readonly parentId: string;
  /** How the parent ended, such as `failed` or `was cancelled`. */
  readonly ending: string;
}

/** Parses the skip reason in a job's error; `null` if the job was not skipped. */
export function skipReason(error: JobError | null): SkipReason | null {
  if (error?.name !== 'ContinuationCancelled') return null;
  const [, parentId, ending] = /^Skipped: (\S+) ([^.]+)\./.exec(error.message) ?? [];
  return parentId === undefined || ending === undefined ? null : { parentId, ending };
}
