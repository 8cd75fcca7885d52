import { timingsKept, defaultBucketMs } from '@longshore/jobs/storage';
import { calendarMomentOf, withOffset, zoneIn } from '../../search/moment.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The spans that the range picker offers. All of them end at the current time. */
const spans = [
  { key: '15m', word: '15 min', ms: 15 * MINUTE },
  { key: '1h', word: '1 hour', ms: HOUR },
  { key: '6h', word: '6 hours', ms: 6 * HOUR },
  { key: '24h', word: '24 hours', ms: DAY },
  { key: '7d', word: '7 days', ms: 7 * DAY },
  { key: '30d', word: '30 days', ms: 30 * DAY },
] as const;

const comparisons = [
  { key: 'day', word: 'vs yesterday', ms: DAY },
  { key: 'week', word: 'vs last week', ms: 7 * DAY },
] as const;

/** The period that charts show, and the queries that change it. Parsed from the URL of the page. */
export interface Range {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly bucketMs: number;
  /** How far back the comparison period is shifted, in milliseconds; `null` if there is no comparison. */
  readonly beforeMs: number | null;
  /** One end of a new period, while the other end has not been picked yet; otherwise `null`. */
  readonly pickedMs: number | null;
  /** Whether the period ends at the current time. */
  readonly isLive: boolean;
  readonly spans: readonly Choice[];
  readonly comparisons: readonly Choice[];
  /** Returns the page's query with some parameters changed. The value `null` removes a parameter. */
  readonly query: (change: Readonly<Record<string, string | null>>) => string;
}

interface Choice {
  readonly word: string;
  readonly query: string;
  readonly current: boolean;
}

/**
 * Parses the parameters of the range: `range=6h`, or `from` and `until`, and optionally `before=day`. If `from` is
 * given without `until`, it is one end of a new period whose other end has not been picked yet. Ignores values that are
 * invalid or older than the stored timings.
 *
 * @throws {Problem} (400) if the parameter `zone` is not a time zone
 */
export function rangeOf(query: URLSearchParams, nowMs: number): Range {
  const span = spans.find(({ key }) => key === query.get('range')) ?? spans[1];
  const before = comparisons.find(({ key }) => key === query.get('before')) ?? null;
  const zone = zoneIn(query);
  const [from, until] = ['from', 'until'].map((key) => momentIn(query.get(key), nowMs, zone));
  const isChosen =
    from !== null && from !== undefined && until !== null && until !== undefined && from !== until;
  const [fromMs, untilMs] = isChosen
    ? [Math.min(from, until), Math.max(from, until)]
    : [nowMs - span.ms, nowMs];
  const bucketMs = defaultBucketMs(fromMs, untilMs, nowMs);
  const change = (changed: Readonly<Record<string, string | null>>): string => {
    const next = new URLSearchParams(query);
    for (const key of ['from', 'until'])
      if (next.has(key)) next.set(key, withOffset(next.get(key) ?? '', zone));
    next.delete('zone');
    for (const [key, value] of Object.entries(changed))
      if (value === null) next.delete(key);
      else next.set(key, value);
    const text = next.toString();
    return text === '' ? '' : `?${text}`;
  };
  return {
    fromMs: Math.floor(fromMs / bucketMs) * bucketMs,
    // A live period includes the current bucket, even if that bucket begins right now.
    untilMs: (isChosen ? Math.ceil(untilMs / bucketMs) : Math.floor(untilMs / bucketMs) + 1) * bucketMs,
    bucketMs,
    beforeMs: before?.ms ?? null,
    pickedMs: isChosen ? null : (from ?? null),
    isLive: !isChosen,
    spans: spans.map(({ key, word }) => ({
      word,
      query: change({ range: key, from: null, until: null }),
      current: !isChosen && key === span.key,
    })),
    comparisons: comparisons.map(({ key, word }) => ({
      word,
      query: change({ before: key === before?.key ? null : key }),
      current: key === before?.key,
    })),
    query: change,
  };
}

/**
 * Parses the start or end of a period. Returns the current time for a time that is up to an hour in the future. Returns
 * `null` if the text is missing or invalid, if the time is further in the future, or if it is older than the stored
 * timings.
 */
function momentIn(text: string | null, nowMs: number, zone: string): number | null {
  const atMs = text === null ? undefined : calendarMomentOf(text, zone)?.getTime();
  if (atMs === undefined || atMs > nowMs + HOUR || atMs < nowMs - timingsKept.hour.forMs) return null;
  return Math.min(atMs, nowMs);
}
