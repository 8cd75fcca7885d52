import { median } from './statistics.js';

/** One line of a scenario's table. */
export interface Row {
  readonly name: string;
  /** As the reader needs them to do the same again. */
  readonly settings: string;
  /** Column → number. The first one is what ratios compare. */
  readonly figures: Readonly<Record<string, number>>;
  /** The same number, round by round. */
  readonly rounds?: readonly number[];
}

export interface Ratio {
  readonly name: string;
  readonly value: number;
  /** Absent: for information only. */
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

/** One round of one contender. */
export interface Sample {
  /** Jobs a second. */
  readonly perSecond: number;
  /** Processor time for each job; NaN where the system does not tell. */
  readonly nodeMicroseconds: number;
  readonly postgresMicroseconds: number;
}

/** A row of rates, one a round. */
export function rateRow(name: string, settings: string, samples: readonly Sample[]): Row {
  const rounds = samples.map(({ perSecond }) => perSecond);
  const figures = {
    'jobs/s': median(rounds),
    min: Math.min(...rounds),
    max: Math.max(...rounds),
    'node µs/job': median(samples.map(({ nodeMicroseconds }) => nodeMicroseconds)),
    'postgres µs/job': median(samples.map(({ postgresMicroseconds }) => postgresMicroseconds)),
  };
  return { name, settings, figures, rounds };
}

/** The first figure of a row relative to that of another. */
export function ratioOf(row: Row, other: Row, target?: Target): Ratio {
  const value = (Object.values(row.figures)[0] ?? NaN) / (Object.values(other.figures)[0] ?? NaN);
  return { name: `${row.name} / ${other.name}`, value, ...(target && { target }) };
}

export function isMet({ value, target = {} }: Ratio): boolean {
  return value >= (target.atLeast ?? -Infinity) && value <= (target.atMost ?? Infinity);
}
