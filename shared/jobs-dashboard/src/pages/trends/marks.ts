import { type Change, type Changes, changesOf } from '../../diagnosis/changes.js';
import { counted } from '../../format/count.js';
import { xOf } from '../../format/line-chart.js';
import type { Range } from './range.js';

/** A dashed line in the charts: what was changed at about one time. */
interface Mark {
  readonly x: number;
  /** The latest of these changes. */
  readonly at: Date;
  readonly text: string;
}

export interface Marks {
  /** Newest first. */
  readonly marks: readonly Mark[];
  /** The path of the audit, if it has further actions of the period; otherwise `null`. */
  readonly more: string | null;
}

/** Maximum number of marks; the latest. */
const MAX_MARKS = 12;
/** Changes that are at most this far apart share a mark, in SVG units: a thousandth of the width. */
const TOGETHER = 8;
/** Maximum number of changes to name for each mark. */
const MAX_NAMED = 3;

/** Returns the marks of what was changed in the period of a chart, as far as it concerns the chart’s queue or job type. */
export function marksOf(
  { changes, isComplete }: Changes,
  subject: Parameters<typeof changesOf>[0],
  range: Range,
): Marks {
  const groups: [Change, ...Change[]][] = [];
  for (const change of changesOf(subject, changes)) {
    const group = groups.at(-1);
    const isNear =
      group !== undefined && xOf(group[0].at.getTime(), range) - xOf(change.at.getTime(), range) <= TOGETHER;
    if (isNear) group.push(change);
    else groups.push([change]);
  }
  const path = `audit?since=${minuteOf(range.fromMs)}&until=${minuteOf(range.untilMs)}`;
  return {
    marks: groups.slice(0, MAX_MARKS).map(markIn(range)),
    more: isComplete && groups.length <= MAX_MARKS ? null : path,
  };
}

function markIn(range: Range): (group: readonly [Change, ...Change[]]) => Mark {
  return (group) => {
    const { at } = group[0];
    return { x: xOf(at.getTime(), range), at, text: textOf(group) };
  };
}

function textOf(group: readonly Change[]): string {
  const named = group
    .slice(0, MAX_NAMED)
    .map(({ text }) => text)
    .join(', ');
  if (group.length === 1) return named;
  const numbers = (['deployment', 'action'] as const).flatMap((kind) => {
    const count = group.filter((change) => change.kind === kind).length;
    return count === 0 ? [] : counted(count, kind);
  });
  const rest = group.length > MAX_NAMED ? ` and ${group.length - MAX_NAMED} more` : '';
  return `${numbers.join(' and ')} (${named}${rest})`;
}

function minuteOf(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16)}Z`;
}
