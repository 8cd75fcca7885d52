import type { Claim } from '@longshore/jobs';
import { arrayOf } from '../connection/array-literal.js';

/** Which attempt of which job a statement has touched. */
export interface TouchedRow {
  id: string;
  attempt: number;
}

/** The claims that no row names. */
export function without(claims: readonly Claim[], rows: readonly TouchedRow[]): Claim[] {
  const touched = new Set(rows.map(({ id, attempt }) => `${id} ${attempt}`));
  return claims.filter(({ jobId, attempt }) => !touched.has(`${jobId} ${attempt}`));
}

/** Ids, servers and attempts, as parallel arrays. */
export function claimArrays(claims: readonly Claim[]): string[] {
  return [
    arrayOf(claims.map(({ jobId }) => jobId)),
    arrayOf(claims.map(({ serverId }) => serverId)),
    arrayOf(claims.map(({ attempt }) => attempt)),
  ];
}
