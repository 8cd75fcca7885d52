import type { JobFilter } from '@longshore/jobs';
import type { Bind } from './job-conditions.sql.js';

// History is partitioned by the days (UTC) on which jobs ended.

/** There are partitions for days to come, and to plan for a partition takes as long as to look into it. A constant, for plans that know no values. `now` by the database's clock. */
export function madeDays(now: Date): string {
  return `finished_at < '${startOfDay(now, 2).toISOString()}'::timestamptz`;
}

/** Spares the look at other days; exact bounds would have it go on for ever in the day itself. */
export function wholeDays({ finishedAfter, finishedBefore }: JobFilter, bind: Bind): string[] {
  const days: string[] = [];
  if (finishedAfter !== undefined)
    days.push(`finished_at >= ${bind(startOfDay(finishedAfter))}::timestamptz`);
  if (finishedBefore !== undefined)
    days.push(`finished_at < ${bind(startOfDay(finishedBefore, 1))}::timestamptz`);
  return days;
}

/** UTC, as the partitions are. */
export function startOfDay(time: Date, daysLater = 0): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate() + daysLater));
}
