import type { Postgres } from '../test/system/postgres.js';
import type { Fleet } from './fleet.js';
import type { Load } from './load.js';
import type { Observer } from './observer.js';

/** The system that faults act on. */
export interface Stage {
  readonly postgres: Postgres;
  readonly fleet: Fleet;
  readonly load: Load;
  readonly observer: Observer;
  /** Returns the next random number, from 0 up to, but not including, 1. The seed determines the sequence. */
  readonly random: () => number;
}

/** What a fault reports besides its duration. */
export interface Notes {
  /** A remark that is printed with the fault. */
  readonly remark?: string;
  /** Descriptions of violated properties. */
  readonly breaches?: readonly string[];
}

/** Causes a fault and undoes it. Resolves after it has been undone. */
export type Fault = (stage: Stage) => Promise<Notes>;

/** Picks a random integer from 0 up to, but not including, `below`. */
export const pick = (random: () => number, below: number): number => Math.floor(random() * below);
