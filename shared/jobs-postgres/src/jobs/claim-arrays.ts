import type { Claim } from '@longshore/jobs/storage';
import { arrayOf } from '../connection/array-literal.js';

/** The job id and attempt of a valid claim. */
export interface TouchedRow {
  id: string;
  attempt: number;
}

/** Returns the claims without a matching row. A row matches if the job id and the attempt are equal. */
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
