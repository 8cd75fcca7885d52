import type { Claim } from '@longshore/jobs/storage';
import { arrayOf } from '../connection/array-literal.js';

/** Job id and attempt of a claim that a statement found to be valid. */
export interface TouchedRow {
  id: string;
  attempt: number;
}

/** Returns the claims that have no matching row, compared by job id and attempt. */
export function without(claims: readonly Claim[], rows: readonly TouchedRow[]): Claim[] {
  const touched = new Set(rows.map(({ id, attempt }) => `${id} ${attempt}`));
  return claims.filter(({ jobId, attempt }) => !touched.has(`${jobId} ${attempt}`));
}

/** Returns the job ids, server ids and attempts of the claims, as three parallel Postgres array literals. */
export function claimArrays(claims: readonly Claim[]): string[] {
  return [
    arrayOf(claims.map(({ jobId }) => jobId)),
    arrayOf(claims.map(({ serverId }) => serverId)),
    arrayOf(claims.map(({ attempt }) => attempt)),
  ];
}
