import type { Postgres } from '../test/system/postgres.js';
import type { Fleet } from './fleet.js';
import type { Load } from './load.js';
import type { Observer } from './observer.js';

/** What faults act on. */
export interface Stage {
  readonly postgres: Postgres;
  readonly fleet: Fleet;
  readonly load: Load;
  readonly observer: Observer;
  /** From 0 to 1, by the seed. */
  readonly random: () => number;
}

/** What a fault reports besides the time it took. */
export interface Notes {
  /** For people. */
  readonly remark?: string;
  /** What must not be, in words. */
  readonly breaches?: readonly string[];
}

/** Does harm, undoes it, and resolves when it is undone. */
export type Fault = (stage: Stage) => Promise<Notes>;

/** An integer from 0 up to, but not including, `below`. */
export const pick = (random: () => number, below: number): number => Math.floor(random() * below);
