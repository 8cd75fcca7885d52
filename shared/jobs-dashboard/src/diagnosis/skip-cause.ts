import type { Batch, Job, JobError } from '@longshore/jobs';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { counted } from '../format/count.js';
import { errorLine } from './failures.js';

/** The reason why a job was cancelled before it ran: its parent, a job or batch, did not end as required. */
interface SkipReason {
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

/** The job or batch at the root of a chain: all after it were skipped, one because of the other. */
export interface SkipCause {
  /** The path of its page, inside the dashboard; `null` if it has been removed. */
  readonly path: string | null;
  /** A clause, such as `charge-card failed: HttpError: 402 card declined`. */
  readonly text: string;
}

/** A chain is followed at most this far. */
const MAX_HOPS = 10;
/** Maximum number of batches to look up for a list of jobs. */
const MAX_BATCHES = 10;

/**
 * Finds the roots of skipped jobs.
 *
 * @param skipped the skip reasons of jobs, by any key
 * @returns the causes by the same keys
 */
export async function findSkipCauses<Key>(
  skipped: ReadonlyMap<Key, SkipReason>,
  { jobs, batches }: Pick<ReadingContext['reader'], 'jobs' | 'batches'>,
): Promise<Map<Key, SkipCause>> {
  const causes = new Map<Key, SkipCause>();
  let open = skipped;
  for (let hops = 0; open.size > 0; hops++) {
    const ids = [...new Set([...open.values()].map(({ parentId }) => parentId))];
    const parents = new Map((await jobs.findMany(ids)).map((job) => [job.id, job]));
    const others = ids.filter((id) => !parents.has(id)).slice(0, MAX_BATCHES);
    const found = await Promise.all(others.map((id) => batches.find(id)));
    const next = new Map<Key, SkipReason>();
    for (const [key, reason] of open) {
      const parent = parents.get(reason.parentId);
      const before = skipReason(parent?.error ?? null);
      if (before !== null && hops < MAX_HOPS) next.set(key, before);
      else {
        const batch = found[others.indexOf(reason.parentId)];
        causes.set(key, causeOf(reason, parent ?? null, batch ?? null, hops));
      }
    }
    open = next;
  }
  return causes;
}

/** @param hops the number of skipped jobs between the job and its cause */
function causeOf(
  { parentId, ending }: SkipReason,
  job: Job | null,
  batch: Batch | null,
  hops: number,
): SkipCause {
  const between = hops === 0 ? '' : ` (${counted(hops, 'skipped job')} in between)`;
  if (job !== null) {
    const isSkipped = skipReason(job.error) !== null;
    const error = job.error === null || isSkipped ? '' : `: ${errorLine(job.error.name, job.error.message)}`;
    return { path: `jobs/${parentId}`, text: `${job.name} ${ending}${error}${between}` };
  }
  if (batch === null) return { path: null, text: `a removed job or batch ${ending}${between}` };
  const name = batch.name === null ? 'a batch' : `batch “${batch.name}”`;
  return { path: `batches/${parentId}`, text: `${name} ${ending}${between}` };
}
