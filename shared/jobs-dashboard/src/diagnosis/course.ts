import type { HistoryBucket } from '@longshore/jobs/storage';
import { type Point, linePath, maxOf, xOf } from '../format/line-chart.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How a measurement has changed in the last hour, for a small chart. */
export interface Course {
  /** What is measured, such as `Failed attempts`. */
  readonly word: string;
  /** One point a minute, oldest first. */
  readonly points: readonly Point[];
  /** Formats a value, such as the largest. */
  readonly format: (value: number) => string;
}

/** The shapes and words of a course, in a drawing 1,000 units wide and 100 high. */
interface CourseDrawing {
  readonly word: string;
  readonly line: string;
  /** Where the warning begins; `null` if it began earlier. */
  readonly beganX: number | null;
  /** The largest and the latest value. */
  readonly peak: string;
  readonly latest: string;
}

/**
 * Returns the value in each minute of the last hour. A minute without a value has the value `null`.
 *
 * @param buckets minutes and hours, oldest first
 */
export function courseOf(
  buckets: readonly HistoryBucket[],
  nowMs: number,
  valueOf: (bucket: HistoryBucket) => number | null,
): Point[] {
  const minutes = new Map(
    buckets.filter(({ bucketMs }) => bucketMs === MINUTE_MS).map((bucket) => [bucket.at.getTime(), bucket]),
  );
  const lastMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  return Array.from({ length: 60 }, (_each, index) => {
    const atMs = lastMs - (59 - index) * MINUTE_MS;
    const bucket = minutes.get(atMs);
    return { atMs, value: bucket === undefined ? null : valueOf(bucket) };
  });
}

/** @param beganAt when the warning began */
export function drawCourse({ word, points, format }: Course, beganAt: Date | null): CourseDrawing {
  const untilMs = points.at(-1)?.atMs ?? HOUR_MS;
  const span = { fromMs: points[0]?.atMs ?? untilMs - HOUR_MS, untilMs };
  const beganMs = beganAt?.getTime() ?? 0;
  const max = maxOf(points);
  return {
    word,
    line: linePath(points, span, { top: max || 1, middle: max / 2, bottom: 0, isLogarithmic: false }),
    beganX: beganMs < span.fromMs || beganMs > untilMs ? null : xOf(beganMs, span),
    peak: format(max),
    latest: format(points.findLast(({ value }) => value !== null)?.value ?? 0),
  };
}
