import type { TcpProxy } from '@longshore/test-support';
import type { Postgres } from '../test/system/postgres.js';
import type { Fleet } from './fleet.js';
import type { Load } from './load.js';
import type { Observer } from './observer.js';

/** The system that faults act on. */
export interface Stage {
  readonly postgres: Postgres;
  /** What lies between the services and Postgres. The load and the observer connect directly. */
  readonly network: TcpProxy;
  readonly fleet: Fleet;
  readonly load: Load;
  readonly observer: Observer;
  /** Returns the next number of the seeded random sequence: at least 0 and less than 1. */
  readonly random: () => number;
}

/** Remarks and violations that a fault reports. */
export interface Notes {
  /** Printed with the fault. */
  readonly remark?: string;
  /** Descriptions of violated properties. */
  readonly breaches?: readonly string[];
}

/** Causes a fault. Resolves once the fault has been undone. */
export type Fault = (stage: Stage) => Promise<Notes>;

/** Returns a random integer that is at least 0 and less than `below`. */
export const pick = (random: () => number, below: number): number => Math.floor(random() * below);
