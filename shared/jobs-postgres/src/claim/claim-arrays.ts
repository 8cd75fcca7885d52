import type { Claim } from '@longshore/jobs/storage';
import { arrayOf } from '../connection/array-literal.js';

/** A job and attempt that a statement has changed or confirmed. */
export interface TouchedRow {
  id: string;
  attempt: number;
}

/** Returns the claims that no row names. */
export function without(claims: readonly Claim[], rows: readonly TouchedRow[]): Claim[] {
  const touched = new Set(rows.map(({ id, attempt }) => `${id} ${attempt}`));
  return claims.filter(({ jobId, attempt }) => !touched.has(`${jobId} ${attempt}`));
}

/** Returns ids, servers and attempts as parallel arrays. */
export function claimArrays(claims: readonly Claim[]): string[] {
  return [
    arrayOf(claims.map(({ jobId }) => jobId)),
    arrayOf(claims.map(({ serverId }) => serverId)),
    arrayOf(claims.map(({ attempt }) => attempt)),
  ];
}
