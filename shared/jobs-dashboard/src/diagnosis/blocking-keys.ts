import type { Job } from '@longshore/jobs';
import type { BlockingKey, BlockingKeys, JobCount, KeyOccupant, Queue } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../format/count.js';
import { type Sentence, sentence } from '../format/sentence.js';
import type { DashboardReader } from '../reading/dashboard-reader.js';
import { countFigure, type Warning, type WarningButton } from './warning.js';

/** A key gets a warning only if it blocks at least this many jobs. */
const MANY_JOBS = 100;
/** A key gets a warning only if it has blocked its next job for at least this long, in milliseconds. */
const LONG_WAIT_MS = 5 * 60_000;
/** A key that blocks at least this many jobs gets a warning sooner, because the last of them will wait much longer. */
const FLOOD_JOBS = 1_000;
const FLOOD_WAIT_MS = 30_000;
const MAX_WARNINGS = 3;
/** Maximum number of jobs to name that hold a key. */
const MAX_OCCUPANTS = 3;

export const noBlockingKeys: BlockingKeys = { keys: [], isComplete: true };

export function keysOf(queue: string, { keys, isComplete }: BlockingKeys): BlockingKeys {
  return { keys: keys.filter((key) => key.queue === queue), isComplete };
}

export function blockedBy({ keys, isComplete }: BlockingKeys): JobCount {
  return {
    count: keys.reduce((sum, { blocked }) => sum + blocked.count, 0),
    exact: isComplete && keys.every(({ blocked }) => blocked.exact),
  };
}

/**
 * A number of ready jobs. If not all blocked jobs were counted, the number is only an upper bound, and `isExact` is
 * `false`.
 */
export interface ReadyJobs {
  readonly count: number;
  readonly isExact: boolean;
}

/**
 * Returns how many jobs of a queue are ready, excluding blocked ones.
 *
 * @param blocking the keys that block jobs of the queue
 */
export function readyJobs({ counts, oldestEnqueuedAt }: Queue, blocking: BlockingKeys): ReadyJobs {
  if (oldestEnqueuedAt === null && blocking.keys.length > 0) return { count: 0, isExact: true };
  const blocked = blockedBy(blocking);
  const count = Math.max(oldestEnqueuedAt === null ? 0 : 1, counts.enqueued - blocked.count);
  return { count, isExact: blocked.exact };
}

/** Returns a clause such as `At most 20 jobs are ready`. */
export function readyText({ count, isExact }: ReadyJobs): string {
  return `${isExact ? '' : 'At most '}${counted(count, 'job is', 'jobs are')} ready`;
}

/**
 * Returns a sentence such as `9,798 jobs are blocked by concurrency key “tenant-7”, which allows 2 at once, held by …`.
 * If several keys block jobs, the sentence gives their number and describes the key that blocks the most. If no key
 * blocks jobs, the sentence is empty.
 */
export function blockedSentence(blocking: BlockingKeys): Sentence {
  const [first] = blocking.keys;
  if (first === undefined) return [];
  const total = blockedBy(blocking);
  const jobs = `${atLeast(total)}${counted(total.count, 'job is', 'jobs are')} blocked by`;
  if (blocking.keys.length === 1 && blocking.isComplete) return sentence`${jobs} ${limitSentence(first)}.`;
  const keys = `${blocking.isComplete ? '' : 'at least '}${counted(blocking.keys.length, 'concurrency key')}`;
  const share = `${first.blocked.exact ? '' : 'at least '}${formatNumber(first.blocked.count)}`;
  return sentence`${jobs} ${keys}, most of them (${share}) by ${limitSentence(first)}.`;
}

/**
 * Returns a clause about jobs that the waiting times do not contain yet, because these are measured when jobs start:
 * `without 2,883 jobs that keys block, some for 6 min`. Returns `null` if no key blocks jobs.
 */
export function uncountedSentence(blocking: BlockingKeys): Sentence | null {
  const { count, exact } = blockedBy(blocking);
  if (count === 0) return null;
  const begins = blocking.keys.flatMap(({ details }) => details?.since.getTime() ?? []);
  const jobs = `without ${exact ? '' : 'at least '}${counted(count, 'job that a key blocks', 'jobs that keys block')}`;
  if (begins.length === 0) return [jobs];
  return sentence`${jobs}, ${count === 1 ? 'for' : 'some for'} ${{ since: new Date(Math.min(...begins)) }}`;
}

/** Describes a key: `concurrency key “tenant-7”, which allows 2 at once, held by export …1f2e (started 3 min ago)`. */
export function limitSentence({ key, details }: BlockingKey): Sentence {
  if (details === null) return sentence`concurrency key “${key}”`;
  const { limit, occupants } = details;
  const shown = occupants.slice(0, MAX_OCCUPANTS).map(occupantText);
  const more = occupants.length - shown.length;
  const holders = shown.flatMap((text, index): Sentence => (index === 0 ? text : [', ', ...text]));
  const heldBy =
    shown.length === 0 ? '' : sentence`, held by ${holders}${more > 0 ? ` and at least ${more} more` : ''}`;
  return sentence`concurrency key “${key}”, which allows ${formatNumber(limit)} at once${heldBy}`;
}

/**
 * Returns up to {@link MAX_WARNINGS} warnings about keys that block at least {@link MANY_JOBS} jobs and have blocked
 * their next job for at least {@link LONG_WAIT_MS}, or {@link FLOOD_WAIT_MS} if they block {@link FLOOD_JOBS}.
 */
export function floodWarnings({ keys }: BlockingKeys, nowMs: number): Warning[] {
  return keys
    .filter(({ blocked, details }) => {
      const longMs = blocked.count >= FLOOD_JOBS ? FLOOD_WAIT_MS : LONG_WAIT_MS;
      return blocked.count >= MANY_JOBS && waitedMs(details, nowMs) >= longMs;
    })
    .slice(0, MAX_WARNINGS)
    .map((blocking) => {
      const { queue, key, blocked, details } = blocking;
      return {
        kind: 'key-blocks',
        cause: `key ${key} of queue ${queue} blocks jobs`,
        isMeasured: true,
        figure: countFigure(blocked.count, 'job blocked', 'jobs blocked', blocked.exact ? '' : '≥ '),
        text: sentence`${atLeast(blocked)}${counted(blocked.count, 'job')} of queue “${queue}” ${blocked.count === 1 ? 'is' : 'are'} blocked by ${limitSentence(blocking)}.${nextSentence(details)}`,
        advice:
          'Jobs with other keys are not affected. Raise the limit of the key, or cancel some of its jobs.',
        button: keyLimitButton(queue, 'Raise the key’s limit', [blocking]),
        link: `jobs?${new URLSearchParams({ state: 'enqueued', queue, key }).toString()}`,
        // The key may have blocked others before, which have run since: `mayHaveBegunEarlier`.
        ...(details !== null && { since: details.since }),
      };
    });
}

/** Returns the form that sets the limit of one of these keys. */
export function keyLimitButton(queue: string, word: string, keys: readonly BlockingKey[]): WarningButton {
  const path = `queues/${encodeURIComponent(queue)}/limit-key`;
  const limit = keys.length === 1 ? (keys[0]?.details?.limit ?? null) : null;
  return { path, word, limits: { keys: keys.map(({ key }) => key), limit } };
}

function occupantText({ id, name, startedAt }: KeyOccupant): Sentence {
  const what = `${name} …${id.slice(-4)}`;
  return startedAt === null
    ? sentence`${what} (ready)`
    : sentence`${what} (started ${{ since: startedAt }} ago)`;
}

function nextSentence(details: BlockingKey['details']): Sentence {
  return details === null ? [] : sentence` The next of them has waited for ${{ since: details.since }}.`;
}

function waitedMs(details: BlockingKey['details'], nowMs: number): number {
  return details === null ? 0 : nowMs - details.since.getTime();
}

function atLeast({ exact }: JobCount): string {
  return exact ? '' : 'At least ';
}

/** A job that is ready or running with a concurrency key, so that it blocks others. */
export type KeyHolder = Pick<Job, 'id' | 'name'>;

/**
 * Returns some of the jobs that hold the concurrency key of a blocked job, running ones first; none if the job is not blocked.
 *
 * @param blocking what is known of the key, if a key blocks the job
 */
export async function readKeyHolders(
  { state, readyAt, queue, concurrencyKey }: Job,
  blocking: BlockingKey | null | undefined,
  { jobs }: Pick<DashboardReader, 'jobs'>,
): Promise<KeyHolder[]> {
  if (state !== 'enqueued' || readyAt !== null || concurrencyKey === null) return [];
  const occupants = blocking?.details?.occupants;
  if (occupants !== undefined) return occupants.slice(0, MAX_OCCUPANTS).map(holderOf);
  // Storages describe only the keys that block the most jobs.
  const filter = { queue: [queue], concurrencyKey: [concurrencyKey], state: ['processing'] } as const;
  const running = await jobs.listBrief({ filter, order: 'oldest', limit: MAX_OCCUPANTS, reach: 'near' });
  return running.jobs.map(holderOf);
}

function holderOf({ id, name }: KeyHolder): KeyHolder {
  return { id, name };
}
