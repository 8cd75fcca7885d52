import { type JobEvent, keyOf, topicOf } from '../job/job-event.js';
import { beforeAllIds, type FeedPage, type FeedPosition, type FeedRequest } from './job-feed.js';

/** A change of a job, or reports of one, with the events that it stands for. */
export interface FeedEntry {
  /** When the change happened, in whole milliseconds. */
  readonly at: Date;
  readonly id: string;
  readonly events: readonly JobEvent[];
}

/**
 * Builds a page of the feed.
 *
 * @param sources for each kind of entry, the first entries after `request.from`, in order. If there are `request.limit`
 *   or more, further ones are assumed to follow
 * @param until the end of the time span that was read; `null` if that was the present
 * @param settled see {@link FeedPage.settled}
 */
export function feedPageOf(
  { from, limit, topics }: FeedRequest,
  sources: readonly (readonly FeedEntry[])[],
  until: Date | null,
  settled: Date,
): FeedPage {
  const last = sources
    .flatMap((source) => (source.length < limit ? [] : (source.at(-1) ?? [])))
    .toSorted(compareEntries)[0];
  const entries = sources.flat().filter((entry) => last === undefined || compareEntries(entry, last) <= 0);
  const events = new Map<string, JobEvent>();
  for (const event of entries.flatMap((entry) => entry.events))
    if (event.at >= from.since && topics.includes(topicOf(event))) events.set(keyOf(event), event);
  return {
    events: [...events.values()].toSorted((one, other) => one.at.getTime() - other.at.getTime()),
    next: nextOf(from, last, until),
    settled,
  };
}

function nextOf(from: FeedPosition, last: FeedEntry | undefined, until: Date | null): FeedPosition | null {
  if (last !== undefined) return { at: last.at, id: last.id, since: from.since };
  return until === null ? null : { at: until, id: beforeAllIds, since: from.since };
}

/** Compares the places of two entries in the feed. */
export function compareEntries(
  one: Pick<FeedEntry, 'at' | 'id'>,
  other: Pick<FeedEntry, 'at' | 'id'>,
): number {
  const apartMs = one.at.getTime() - other.at.getTime();
  return apartMs !== 0 ? apartMs : one.id < other.id ? -1 : one.id > other.id ? 1 : 0;
}
