import { expect } from 'chai';
import { highestShare, lowestShare } from '../src/diagnosis/share.js';
import { findShift, type Period, type Shift } from '../src/diagnosis/shift.js';
import { failureRule } from '../src/diagnosis/type-health.js';
import { DrawnHistory, kinds, moments, randomOf, Score, type SyntheticHistory } from './synthetic-history.js';

interface Span {
  readonly from: number;
  readonly until: number;
}

/** A statement about a synthetic history, beside the truth. */
class Statement {
  readonly #found: Shift;
  readonly #history: SyntheticHistory;
  readonly #drawn: DrawnHistory;
  readonly #minute: number;

  constructor(found: Shift, history: SyntheticHistory, drawn: DrawnHistory, minute: number) {
    this.#found = found;
    this.#history = history;
    this.#drawn = drawn;
    this.#minute = minute;
  }

  /** Returns what is wrong with the statement. */
  faults(): string[] {
    return [...this.#wrongSigns(), ...this.#wrongShares(), ...this.#staleness(), ...this.#wrongBeginning()];
  }

  #truth(spans: readonly Span[]): number {
    const within = this.#drawn
      .readAt(this.#minute)
      .filter(({ at }) => spans.some(({ from, until }) => at >= from && at < until));
    const of = within.reduce((sum, tally) => sum + tally.of, 0);
    return of === 0 ? 0 : within.reduce((sum, tally) => sum + tally.expected, 0) / of;
  }

  get #usual(): Span[] {
    return this.#found.baseline?.levels.map(({ at, until }) => ({ from: at, until })) ?? [];
  }

  #wrongSigns(): string[] {
    const { state, baseline, incident, now } = this.#found;
    const faults: string[] = [];
    if (baseline !== null && this.#truth([incident]) <= this.#truth(this.#usual)) faults.push('no anomaly');
    if (state === 'above' && baseline !== null && this.#truth([now]) <= this.#truth(this.#usual))
      faults.push('not above now');
    if (state === 'recovering' && this.#truth([now]) >= this.#truth([incident]))
      faults.push('does not recover');
    return faults;
  }

  #wrongShares(): string[] {
    const { baseline, incident, now } = this.#found;
    const isOff = (period: Period, spans: readonly Span[] = [period]): boolean => {
      const truth = this.#truth(spans);
      return period.of > 0 && (truth < lowestShare(period) - 1e-9 || truth > highestShare(period) + 1e-9);
    };
    return [
      ...(isOff(incident) ? ['the share of the anomaly is off'] : []),
      ...(isOff(now) ? ['the share of now is off'] : []),
      ...(baseline !== null && isOff(baseline, this.#usual) ? ['the baseline is off'] : []),
    ];
  }

  #staleness(): string[] {
    const { backAt } = this.#history;
    const minute = this.#minute;
    if (backAt === null || this.#drawn.hasRepeatedMinutes(minute)) return [];
    const since = this.#drawn.attempts(backAt + 1, minute);
    return [
      ...(this.#found.state === 'above' && minute > backAt + 3 && since > 60 ? ['has recovered'] : []),
      ...(minute > backAt + 6 && since > 300 ? ['is over'] : []),
    ];
  }

  /** The beginning may be off by one tally with attempts, because a share is unknown while nothing runs. */
  #wrongBeginning(): string[] {
    const { baseline, beganBetween } = this.#found;
    const { risesAt, clockAhead } = this.#history;
    if (risesAt === null || this.#minute <= risesAt || beganBetween === null || baseline === null) return [];
    const tallies = this.#drawn.readAt(this.#minute);
    const rises = tallies.findIndex(({ until }) => until > this.#drawn.clockAt(risesAt));
    const placeOf = (atMs: number): number => tallies.findLastIndex(({ at }) => at <= atMs);
    const [first, last] = [placeOf(beganBetween.from), placeOf(beganBetween.until)];
    // If the clock was set, the rise can have two times, or a minute can hold attempts from before and after it.
    const tolerance = 1 + Math.abs(clockAhead(this.#minute));
    return rises < first - tolerance || rises > last + tolerance
      ? [`began ${first - rises} to ${last - rises} minutes or hours off`]
      : [];
  }
}

/** Returns whether an anomaly is large and old enough, and has enough attempts, to be reported. */
function isDue(
  { risesAt, backAt, share, from }: SyntheticHistory,
  drawn: DrawnHistory,
  minute: number,
): boolean {
  return (
    risesAt !== null &&
    minute > risesAt + 5 &&
    minute < (backAt ?? Number.POSITIVE_INFINITY) &&
    share(minute) >= 0.25 &&
    drawn.attempts(risesAt, minute) >= 40 &&
    drawn.attempts(minute - 10, minute) * share(minute) >= 10 &&
    drawn.attempts(from, risesAt) >= 200
  );
}

describe('what is said about the failures in synthetic histories', () => {
  for (const [index, [kind, draw]] of Object.entries(kinds).entries()) {
    it(`is true: ${kind}`, function () {
      this.timeout(120_000);
      const score = new Score(kind);
      for (const seed of score.seeds(index)) {
        const random = randomOf(seed);
        const history: SyntheticHistory = { kind, ...draw(random) };
        const drawn = new DrawnHistory(history, 121, random);
        for (const minute of moments) {
          const found = findShift(drawn.readAt(minute), drawn.clockAt(minute), failureRule);
          if (found !== null)
            score.add(
              `seed ${seed}, minute ${minute}, ${found.state}`,
              new Statement(found, history, drawn, minute).faults(),
            );
          if (isDue(history, drawn, minute)) score.addDue(found !== null);
        }
      }
      score.print();
      expect(score.wrong).to.deep.equal([]);
      expect(score.missed).to.be.at.most(1 + 0.05 * score.due);
    });
  }
});
