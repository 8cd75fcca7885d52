import type { Share } from './share.js';

/** A share of the attempts in one interval of time. */
export interface Tally extends Share {
  /** Start of the interval, in milliseconds since 1970. */
  readonly at: number;
  /** End of the interval, exclusive. */
  readonly until: number;
}

/** Consecutive tallies during which the share did not change noticeably. */
export interface Level extends Tally {
  /** Index of its first tally. */
  readonly first: number;
  /** Index after its last tally. */
  readonly end: number;
}

/** By how much a change point must improve the likelihood, in nats. */
const PENALTY = 8;

/**
 * Divides a series into levels: the division with the highest likelihood, less a penalty for each level (optimal
 * partitioning, Jackson et al. 2005, with the pruning of PELT, Killick et al. 2012).
 *
 * @param tallies in order of time, none without attempts
 */
export function findLevels(tallies: readonly Tally[]): Level[] {
  const total = runningTotals(tallies);
  const best = [-PENALTY];
  const cutBefore: number[] = [0];
  let candidates: number[] = [];
  for (let end = 1; end <= tallies.length; end++) {
    candidates.push(end - 1);
    let least = Number.POSITIVE_INFINITY;
    const costs = candidates.map((first) => {
      const cost = (best[first] ?? 0) + costOf(total, first, end);
      if (cost + PENALTY < least) {
        least = cost + PENALTY;
        cutBefore[end] = first;
      }
      return cost;
    });
    best.push(least);
    candidates = candidates.filter((_first, place) => (costs[place] ?? 0) <= least);
  }
  const levels: Level[] = [];
  for (let end = tallies.length; end > 0; end = cutBefore[end] ?? 0)
    levels.push(levelOf(tallies, total, cutBefore[end] ?? 0, end));
  return levels.toReversed();
}

/** How much less likely than the best time another one may be to remain possible, in nats: one in 100,000. */
const POSSIBLE = 11.5;

/**
 * Returns between which times the share changed from one level to the next: the starts of the first and of the last
 * tally before which the change is about as likely as between the levels.
 */
export function changeBetween(
  tallies: readonly Tally[],
  before: Level,
  after: Level,
): { readonly from: number; readonly until: number } {
  const total = runningTotals(tallies);
  const costAt = (cut: number): number => costOf(total, before.first, cut) + costOf(total, cut, after.end);
  const limit = costAt(after.first) + POSSIBLE;
  let [first, last] = [after.first, after.first];
  for (let cut = before.first + 1; cut < after.end; cut++)
    if (costAt(cut) <= limit) [first, last] = [Math.min(first, cut), Math.max(last, cut)];
  return { from: tallies[first]?.at ?? after.at, until: tallies[last]?.at ?? after.at };
}

interface Totals {
  readonly hits: readonly number[];
  readonly of: readonly number[];
}

/** Returns the totals before each tally, and after the last. */
function runningTotals(tallies: readonly Tally[]): Totals {
  const [hits, of] = [[0], [0]];
  for (const [place, tally] of tallies.entries()) {
    hits.push((hits[place] ?? 0) + tally.hits);
    of.push((of[place] ?? 0) + tally.of);
  }
  return { hits, of };
}

/** The negative logarithm of the likelihood of the tallies from `first` to `end`, if they have the same share. */
function costOf({ hits, of }: Totals, first: number, end: number): number {
  const all = (of[end] ?? 0) - (of[first] ?? 0);
  const some = (hits[end] ?? 0) - (hits[first] ?? 0);
  return timesLog(all) - timesLog(some) - timesLog(all - some);
}

function timesLog(count: number): number {
  return count === 0 ? 0 : count * Math.log(count);
}

function levelOf(tallies: readonly Tally[], { hits, of }: Totals, first: number, end: number): Level {
  return {
    first,
    end,
    at: tallies[first]?.at ?? 0,
    until: tallies[end - 1]?.until ?? 0,
    hits: (hits[end] ?? 0) - (hits[first] ?? 0),
    of: (of[end] ?? 0) - (of[first] ?? 0),
  };
}
