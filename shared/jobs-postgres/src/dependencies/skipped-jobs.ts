import { arrayOf } from '../connection/array-literal.js';
import type { Run } from '../connection/run.js';
import { lockBatches } from './batches.sql.js';
import { restoreSkipped } from './skipped-jobs.sql.js';

interface RestoredRow {
  readonly restored: number;
  readonly ids: readonly string[];
}

/**
 * Makes the jobs wait again that were skipped because of these jobs and batches, directly or through other skipped jobs.
 * Returns how many.
 *
 * The outbox relay may be about to skip more of them at the same time, because of parents that are restored here. It
 * locks the parents, so the parents are restored first, and then their dependents are read again, until there are none.
 *
 * @param visibleQueues the queues whose jobs the caller can see; `null` for all
 */
export async function restoreDependents(
  run: Run,
  parents: readonly string[],
  visibleQueues: readonly string[] | null,
): Promise<number> {
  let restored = 0;
  for (let ids = parents; ids.length > 0;) {
    await run(lockBatches, [arrayOf(ids)]);
    const [row] = (await run(restoreSkipped, [arrayOf(ids), visibleQueues])) as readonly RestoredRow[];
    restored += row?.restored ?? 0;
    ids = row?.ids ?? [];
  }
  return restored;
}
