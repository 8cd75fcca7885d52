import { median } from './statistics.js';

/** A row of a scenario's table. */
export interface Row {
  readonly name: string;
  /** The settings that are needed to repeat the measurement. */
  readonly settings: string;
  /** Figures by column. Ratios compare the first figure of each row. */
  readonly figures: Readonly<Record<string, number>>;
  /** The value of the first figure in each round. */
  readonly rounds?: readonly number[];
}

export interface Ratio {
  readonly name: string;
  readonly value: number;
  /** The range that the ratio should be in; absent if the ratio is reported only for information. */
  readonly target?: Target;
}

export interface Target {
  readonly atLeast?: number;
  readonly atMost?: number;
}

export interface ScenarioResult {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly ratios: readonly Ratio[];
}

/** One contender's measurements in one round. */
export interface Sample {
  /** Jobs (or steps) per second. */
  readonly perSecond: number;
  /** CPU time of the Node.js processes per job (or step). */
  readonly nodeMicroseconds: number;
  /** CPU time of the database or Redis server per job (or step); NaN if the system does not report it. */
  readonly storeMicroseconds: number;
}

/** Builds a row of rates from one sample per round. */
export function rateRow(
  name: string,
  settings: string,
  samples: readonly Sample[],
  unit: 'job' | 'step' = 'job',
): Row {
  const rounds = samples.map(({ perSecond }) => perSecond);
  const figures = {
    [`${unit}s/s`]: median(rounds),
    min: Math.min(...rounds),
    max: Math.max(...rounds),
    [`node µs/${unit}`]: median(samples.map(({ nodeMicroseconds }) => nodeMicroseconds)),
    [`store µs/${unit}`]: median(samples.map(({ storeMicroseconds }) => storeMicroseconds)),
  };
  return { name, settings, figures, rounds };
}

/** Returns the ratio of the first figure of `row` to the first figure of `other`. */
export function ratioOf(row: Row, other: Row, target?: Target): Ratio {
  const value = (Object.values(row.figures)[0] ?? NaN) / (Object.values(other.figures)[0] ?? NaN);
  return { name: `${row.name} / ${other.name}`, value, ...(target && { target }) };
}

/**
 * Returns one ratio for each other row: the first figure of the first row, divided by the first figure of that row.
 *
 * @param targets the targets of the ratios, by the name of the other row
 * @throws {RangeError} if there are no rows
 */
export function ratiosOf(
  [ours, ...others]: readonly Row[],
  targets: Readonly<Record<string, Target>> = {},
): Ratio[] {
  if (ours === undefined) throw new RangeError('A contender is missing');
  return others.map((other) => ratioOf(ours, other, targets[other.name]));
}

export function isMet({ value, target = {} }: Ratio): boolean {
  return value >= (target.atLeast ?? -Infinity) && value <= (target.atMost ?? Infinity);
}
