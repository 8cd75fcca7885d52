import type { JobError } from '@longshore/jobs';

/** Why a job was cancelled without having run: a job or batch that it depends on ended differently. */
export interface SkipReason {
  readonly parentId: string;
  /** `failed`, `was cancelled` */
  readonly ending: string;
}

/** Reads the error of a job whose dependency ended differently; `null` for any other error. */
export function skipReason(error: JobError | null): SkipReason | null {
  if (error?.name !== 'ContinuationCancelled') return null;
  const [, parentId, ending] = /^Skipped: (\S+) ([^.]+)\./.exec(error.message) ?? [];
  return parentId === undefined || ending === undefined ? null : { parentId, ending };
}
