/** How many of a number of attempts have some property, such as having failed. */
export interface Share {
  readonly hits: number;
  readonly of: number;
}

/**
 * A bound excludes the shares under which what was counted, or something more extreme, has a probability of at most
 * `e^-11.5`, one in 100,000: enough for statements that are made every few seconds, and about the most conspicuous of
 * hundreds of periods. This is the Chernoff bound for the mean of independent outcomes, which need not have the same
 * probability (W. Hoeffding, Probability Inequalities for Sums of Bounded Random Variables, 1963, theorem 1). Unlike
 * approximations by a normal distribution, such as Wilson's interval, it also holds for few attempts and for rare hits.
 */
const EVIDENCE = 11.5;

/** Number of halvings when a bound is searched, so that it is exact to a millionth. */
const HALVINGS = 20;

export function shareOf({ hits, of }: Share): number {
  return of === 0 ? 0 : hits / of;
}

/** Returns the smallest share that is consistent with what was counted; 0 if nothing was counted. */
export function lowestShare({ hits, of }: Share): number {
  return 1 - highestShare({ hits: of - hits, of });
}

/** Returns the largest share that is consistent with what was counted; 1 if nothing was counted. */
export function highestShare(share: Share): number {
  const { of } = share;
  const measured = shareOf(share);
  let [inside, outside] = [measured, 1];
  if (of * divergence(measured, outside) <= EVIDENCE) return 1;
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (inside + outside) / 2;
    if (of * divergence(measured, middle) <= EVIDENCE) inside = middle;
    else outside = middle;
  }
  return outside;
}

/**
 * Two shares differ if both were counted from the same true share with a probability of at most one in 100,000. Each of
 * them has an unlikelihood, in nats, that exceeds `x` with a probability of at most `e^-x` (the Chernoff bound above), so
 * that their sum exceeds it with at most `(1 + x) e^-x`. The pooled share is the true one that makes the sum smallest.
 */
const DIFFERENCE = 14.3;

/** Returns whether the first share is certainly higher than the second. */
export function isHigher(share: Share, other: Share): boolean {
  if (shareOf(share) <= shareOf(other)) return false;
  const pooled = shareOf(sumOf([share, other]));
  const unlikely = [share, other].map((each) => each.of * divergence(shareOf(each), pooled));
  return unlikely.reduce((sum, nats) => sum + nats) > DIFFERENCE;
}

export function sumOf(shares: readonly Share[]): Share {
  let [hits, of] = [0, 0];
  for (const share of shares) {
    hits += share.hits;
    of += share.of;
  }
  return { hits, of };
}

/** The Kullback–Leibler divergence of two shares, in nats. */
function divergence(measured: number, assumed: number): number {
  const term = (one: number, other: number): number => (one === 0 ? 0 : one * Math.log(one / other));
  return term(measured, assumed) + term(1 - measured, 1 - assumed);
}
