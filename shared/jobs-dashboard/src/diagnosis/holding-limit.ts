import { toStorable } from '@longshore/edge';
import { counted } from '../format/count.js';
import { type Sentence, sentence } from '../format/sentence.js';
import { formatDuration } from '../format/time.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { listLongestWaiting } from '../reading/job-search.js';
import { findBlocker } from './blocker.js';
import { readLimitSettings } from './limit-settings.js';
import { groupByQueue } from './servers.js';
import type { SlowType } from './type-health.js';

/** Number of the longest waiting jobs among which a ready one is looked for. */
const MAX_EXAMINED = 100;

type Sources = Pick<ReadingContext, 'reader' | 'now'>;

/**
 * Returns a sentence about the limit that holds back the jobs of the type that waits longest: that of the queue in which one
 * of them has been ready for longest. Returns `null` if something else holds them back, and reads nothing if no type waits.
 *
 * @param slow largest ratio first
 * @param queue the queue whose jobs are judged; by default, all queues
 */
export async function readHoldingLimit(
  slow: readonly SlowType[],
  { reader, now }: Sources,
  queue?: string,
): Promise<Sentence | null> {
  const waiting = slow.find(({ slowness }) => slowness.kind === 'waiting');
  if (waiting === undefined) return null;
  const [name, queues, servers] = await Promise.all([
    queue ?? queueOfType(waiting.name, reader),
    reader.queues.list(),
    reader.servers.list(),
  ]);
  const found = queues.find((each) => each.name === name);
  if (found === undefined) return null;
  const { concurrencyLimit, rateLimit } = found;
  const blocker = findBlocker(found, groupByQueue(servers)(found.name), now(), { queues });
  if (blocker?.kind === 'limit' && concurrencyLimit !== null) {
    const { concurrencyLimit: setting } = await readLimitSettings(found, reader);
    return sentence`Queue “${found.name}” is at its limit of ${counted(concurrencyLimit, 'job')} at once${afterComma(setting)}.`;
  }
  if (blocker?.kind === 'rate' && rateLimit !== null) {
    const { rateLimit: setting } = await readLimitSettings(found, reader);
    return sentence`Queue “${found.name}” starts at most ${counted(rateLimit.jobs, 'job')} in ${formatDuration(rateLimit.periodMs)}${afterComma(setting)}.`;
  }
  return null;
}

function afterComma(setting: Sentence | null): Sentence {
  return setting === null ? [] : sentence`, ${setting}`;
}

async function queueOfType(type: string, reader: Sources['reader']): Promise<string | null> {
  // A filter refuses what no storage can contain.
  if (toStorable(type) !== type) return null;
  const waiting = await listLongestWaiting({ name: [type] }, MAX_EXAMINED, reader);
  return waiting.find(({ job }) => job.readyAt !== null)?.job.queue ?? null;
}
