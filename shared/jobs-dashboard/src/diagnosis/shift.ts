import { changeBetween, findLevels, type Level, type Tally } from './change-points.js';
import { highestShare, isHigher, type Share, shareOf, sumOf } from './share.js';

const MINUTE_MS = 60_000;
/** An anomaly is reported only if this many hits are from the last ten minutes. */
const MIN_HITS = 5;
export const RECENT_MS = 10 * MINUTE_MS;
/** Minimum number of attempts of a baseline, and of those that show that an anomaly is over. */
const ENOUGH = 20;
/** “Now” are the latest minutes with this many attempts, but at most five minutes. */
const NOW_ATTEMPTS = 40;
const NOW_MS = 5 * MINUTE_MS;
/** Without an attempt for this long, a job type is said to have stopped. */
const STOPPED_MS = 3 * MINUTE_MS;
/** How long a share must be back at its baseline before the anomaly is over. */
const OVER_MS = 2 * MINUTE_MS;
/**
 * A high share is usual, and therefore no anomaly, if this part of the earlier attempts had at least half of it, and not
 * just once: after a single earlier anomaly, the next one is no less of one.
 */
const USUAL_PART = 0.25;
/** A job type without a baseline is reported only this long after its first attempt. */
const YOUNG_MS = 60 * MINUTE_MS;
/** A shorter history does not show what is usual, because a few anomalies can be most of it. */
const SHORT_MS = 180 * MINUTE_MS;

/** What makes a share an anomaly. */
export interface ShiftRule {
  /** Minimum share, from 0 to 1. */
  readonly minShare: number;
  /** The share must be at least this many times the baseline. */
  readonly factor: number;
  /** The baseline must certainly be below this share. */
  readonly baselineBelow: number;
  /** A share of at least this is reported without a baseline; `null` if a baseline is needed. */
  readonly always: number | null;
}

/** Attempts within a period, in milliseconds since 1970. */
export interface Period extends Share {
  readonly from: number;
  readonly until: number;
}

/**
 * - `above`: the share is above the baseline now
 * - `recovering`: the share has certainly fallen, and is not above the baseline
 * - `stopped`: no attempt has ended for three minutes or longer
 * - `unclear`: there are too few attempts to decide
 */
export type ShiftState = 'above' | 'recovering' | 'stopped' | 'unclear';

/** An anomaly: a share of the attempts that has risen far above its baseline, or is almost everything. */
export interface Shift {
  readonly state: ShiftState;
  /**
   * When the share rose: the start of the first minute, or hour if it is over three hours ago, of the anomaly; `null` if
   * all recorded attempts belong to it.
   */
  readonly beganAt: number | null;
  /** The earliest and latest start that the attempts allow for. Equal if they allow for only one. */
  readonly beganBetween: { readonly from: number; readonly until: number } | null;
  /** The attempts of the anomaly, without those of a recovery. */
  readonly incident: Period;
  /** The latest attempts: one to five minutes. Empty if there were none in the last five minutes. */
  readonly now: Period;
  /** The attempts before the anomaly, without those of earlier anomalies; `null` if there are fewer than 20. */
  readonly baseline: (Period & { readonly levels: readonly Level[] }) | null;
  /** The end of the minute in which the latest attempt ended. */
  readonly lastAt: number;
}

/**
 * Returns the anomaly in a series, or `null` if there is none, if it is over, or if the attempts leave it open.
 *
 * @param series in order of time. Tallies without attempts and those that start after `nowMs` are ignored
 */
export function findShift(series: readonly Tally[], nowMs: number, rule: ShiftRule): Shift | null {
  const tallies = series.filter(({ at, of }) => of > 0 && at <= nowMs);
  const recent = sumOf(tallies.filter(({ until }) => until > nowMs - RECENT_MS));
  const lastAt = tallies.at(-1)?.until;
  if (recent.hits < MIN_HITS || lastAt === undefined) return null;
  // Finding levels is what costs time, and without a lower share anywhere, there is no baseline.
  if (rule.always === null && !tallies.some((tally) => shareOf(tally) < rule.baselineBelow)) return null;
  const levels = findLevels(tallies);
  const found = findRise(levels, nowMs, rule) ?? findUnbased(levels, nowMs, rule);
  if (found === null) return null;
  const { first, last, baseline } = found;
  const [firstLevel, lastLevel, before] = [levels[first], levels[last], levels[first - 1]];
  if (firstLevel === undefined || lastLevel === undefined) return null;
  const incident = periodOf(levels.slice(first, last + 1));
  const now = latestOf(tallies, nowMs);
  // Once over, an anomaly stays over: if the share has risen since, that is another one.
  const after = tallies.slice(lastLevel.end);
  const times = [...after.map(({ until }) => until), nowMs].filter((at) => lastLevel.until <= at - OVER_MS);
  const isOverAt = (at: number): boolean =>
    isOver(
      after.filter(({ until }) => until <= at),
      at,
      { incident, baseline },
      rule,
    );
  if (times.some(isOverAt)) return null;
  const latestMinutes = sumOf(tallies.slice(lastLevel.first).filter(({ at }) => at > nowMs - NOW_MS));
  const state = stateOf({ now, latestMinutes, since: sumOf(after), incident, baseline, lastAt, nowMs }, rule);
  // An earlier anomaly of which nobody can tell whether it is over may be over, and another one may have begun.
  if (state === 'unclear' && lastLevel.until <= nowMs - OVER_MS) return null;
  return {
    state,
    beganAt: before === undefined ? null : firstLevel.at,
    beganBetween: before === undefined ? null : riseBetween(tallies, [levels[first - 2], before, firstLevel]),
    incident,
    now,
    baseline,
    lastAt,
  };
}

/** Returns between which times the share rose. The level before the anomaly may belong to it, if it is not certainly lower. */
function riseBetween(
  tallies: readonly Tally[],
  [earlier, before, first]: readonly [Level | undefined, Level, Level],
): NonNullable<Shift['beganBetween']> {
  const rise = changeBetween(tallies, before, first);
  const mayBelong = earlier !== undefined && isHigher(before, earlier) && !isHigher(first, before);
  return mayBelong ? { ...rise, from: changeBetween(tallies, earlier, before).from } : rise;
}

interface Rise {
  /** Index of the first level of the anomaly. */
  readonly first: number;
  /** Index of its last level. Levels after it belong to a recovery. */
  readonly last: number;
  readonly baseline: Shift['baseline'];
}

/** Finds the latest run of levels that are all above the levels before it. */
function findRise(levels: readonly Level[], nowMs: number, rule: ShiftRule): Rise | null {
  for (let last = levels.length - 1; last > 0; last--) {
    if ((levels[last]?.until ?? 0) <= nowMs - RECENT_MS) return null;
    for (let first = 1; first <= last; first++) {
      const before = levels.slice(0, first);
      const baseline = baselineOf(before, rule);
      if (baseline === null || highestShare(baseline) >= rule.baselineBelow) continue;
      const run = levels.slice(first, last + 1);
      const least = Math.max(rule.minShare, rule.factor * shareOf(baseline));
      const incident = sumOf(run);
      if (run.some((level) => shareOf(level) < least) || !isHigher(incident, baseline)) continue;
      if (spanOf(before) < SHORT_MS || !isUsual(before, incident)) return { first, last, baseline };
    }
  }
  return null;
}

function spanOf(levels: readonly Level[]): number {
  return (levels.at(-1)?.until ?? 0) - (levels[0]?.at ?? 0);
}

function isUsual(before: readonly Level[], incident: Share): boolean {
  const isSimilar = before.map((level) => shareOf(level) >= shareOf(incident) / 2);
  const similar = sumOf(before.filter((_level, index) => isSimilar[index]));
  const times = isSimilar.filter((is, index) => is && isSimilar[index - 1] !== true).length;
  return times > 1 && similar.of > USUAL_PART * sumOf(before).of;
}

/**
 * Returns the usual attempts: those of the levels that are not themselves far above the median level; above the lowest
 * one if the job type is young.
 */
function baselineOf(levels: readonly Level[], { minShare, factor }: ShiftRule): Shift['baseline'] {
  const ascending = levels.toSorted((one, other) => shareOf(one) - shareOf(other));
  const half = sumOf(levels).of / 2;
  const wanted = spanOf(levels) < YOUNG_MS ? Math.min(ENOUGH, half) : half;
  let passed = 0;
  const typical = ascending.find((level) => (passed += level.of) >= wanted);
  if (typical === undefined) return null;
  const least = Math.max(minShare, factor * shareOf(typical));
  const usual = levels.filter((level) => shareOf(level) < least || !isHigher(level, typical));
  const period = periodOf(usual);
  return period.of < ENOUGH ? null : { ...period, levels: usual };
}

/** Finds an anomaly with too few attempts before it for a baseline, or one that includes almost all attempts. */
function findUnbased(levels: readonly Level[], nowMs: number, rule: ShiftRule): Rise | null {
  const { always, minShare } = rule;
  if (always === null) return null;
  const isYoung = (levels[0]?.at ?? 0) > nowMs - YOUNG_MS;
  const isHigh = (level: Level | undefined): boolean => level !== undefined && shareOf(level) >= minShare;
  let last = levels.length - 1;
  while (last > 0 && !isHigh(levels[last])) last--;
  if (!isHigh(levels[last]) || (levels[last]?.until ?? 0) <= nowMs - RECENT_MS) return null;
  let first = last;
  while (first > 0 && isHigh(levels[first - 1])) first--;
  const isAlways = first === 0 && last === levels.length - 1 && shareOf(sumOf(levels)) >= always;
  const isUnknown = isYoung && sumOf(levels.slice(0, first)).of < ENOUGH;
  return isAlways || isUnknown ? { first, last, baseline: null } : null;
}

function stateOf(
  {
    now,
    latestMinutes,
    since,
    incident,
    baseline,
    lastAt,
    nowMs,
  }: Pick<Shift, 'now' | 'incident' | 'baseline' | 'lastAt'> & {
    latestMinutes: Share;
    since: Share;
    nowMs: number;
  },
  { minShare }: ShiftRule,
): ShiftState {
  if (lastAt <= nowMs - STOPPED_MS) return 'stopped';
  const hasFallen = isHigher(incident, now) || isHigher(incident, since);
  if (hasFallen && (baseline === null || !isHigher(now, baseline))) return 'recovering';
  const isHigh = shareOf(now) >= minShare;
  if (baseline === null) return isHigh ? 'above' : 'unclear';
  // A small baseline can leave open what the latest minute is, but not what the minutes before it are.
  return isHigher(now, baseline) || (isHigh && isHigher(latestMinutes, baseline)) ? 'above' : 'unclear';
}

/** Returns whether the attempts after an anomaly show that the share is back: those of two minutes, or a hundred. */
function isOver(
  after: readonly Tally[],
  nowMs: number,
  { incident, baseline }: Pick<Shift, 'incident' | 'baseline'>,
  { minShare }: ShiftRule,
): boolean {
  return [ENOUGH, 5 * ENOUGH].some((attempts) => {
    const share = sumOf(latest(after, nowMs - OVER_MS, attempts));
    const hasFallen = isHigher(incident, share) || highestShare(share) < minShare;
    return share.of >= ENOUGH && hasFallen && !(baseline !== null && isHigher(share, baseline));
  });
}

/** Returns the tallies since a time, and as many earlier ones as are needed for a number of attempts. */
function latest(tallies: readonly Tally[], from: number, attempts: number): Tally[] {
  let [place, of] = [tallies.length, 0];
  while (place > 0 && ((tallies[place - 1]?.until ?? 0) > from || of < attempts))
    of += tallies[--place]?.of ?? 0;
  return tallies.slice(place);
}

/** Returns the attempts of the latest minutes, as many minutes as are needed for enough attempts. */
export function latestOf(tallies: readonly Tally[], nowMs: number): Period {
  const within = tallies.filter(({ at }) => at > nowMs - NOW_MS);
  const found = latest(within, nowMs, NOW_ATTEMPTS);
  return found.length === 0 ? { from: nowMs, until: nowMs, hits: 0, of: 0 } : periodOf(found);
}

function periodOf(tallies: readonly Tally[]): Period {
  return { ...sumOf(tallies), from: tallies[0]?.at ?? 0, until: tallies.at(-1)?.until ?? 0 };
}
