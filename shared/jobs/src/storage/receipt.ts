import { type Holders, noHolders } from './key-resolution.js';

/** What a storage tells about jobs that it took. */
export interface Receipt {
  readonly holders: Holders;
  /** By the storage's clock: when the jobs were created, all at once. `null` if none was. */
  readonly createdAt: Date | null;
}

/** For jobs that brought no keys. */
export function receiptOf(createdAt: Date | null): Receipt {
  return { holders: noHolders, createdAt };
}
