import type { JsonValue } from '@longshore/jobs';
import type { JobCount } from '@longshore/jobs/storage';

/** What is known of an action before it is done, besides who does what to what. */
export interface Intent {
  /** Which jobs, if it is done to many: `{ state, terms }` or `{ ids }`. */
  readonly filter?: { readonly [member: string]: JsonValue };
  /** What was filled in: the new time of a job, the new limits of a queue. */
  readonly values?: JsonValue;
}

/**
 * - `begun`: it is not known whether it was done; only the storage or this process may have failed in the middle
 * - `refused`: nothing was changed, for the reason given
 * - `without effect`: all was already as it should be
 * - `done`: it was done to `count` things
 */
export type Outcome = 'begun' | 'refused' | 'without effect' | 'done';

/** What an entry of the audit holds as its `filter`, besides the filter of an intent. */
export interface AuditDetails {
  readonly outcome: Outcome;
  readonly why: string | null;
  readonly values: JsonValue;
  /** What was there before them; `null` if that is not known. */
  readonly before: JsonValue;
  /** Where it was asked for; `null` in entries of older versions. */
  readonly address: string | null;
  /** The name is only what somebody with the password said. */
  readonly unverified: boolean;
  /** How well `count` is known: not at all if to count took too long. */
  readonly counted: 'exactly' | 'at least' | 'not';
}

/** Only what is not as usual is written down. */
export function storedDetails({ filter = {}, values }: Intent, details: Partial<AuditDetails>): JsonValue {
  const { outcome = 'done', why = null, address = null, unverified = false, counted = 'exactly' } = details;
  const { before = null } = details;
  return {
    ...filter,
    ...(values === undefined ? {} : { values }),
    ...(before === null ? {} : { before }),
    ...(outcome === 'done' ? {} : { outcome }),
    ...(why === null ? {} : { why }),
    ...(address === null ? {} : { address }),
    ...(unverified ? { unverified } : {}),
    ...(counted === 'exactly' ? {} : { counted }),
  };
}

/** Reads what {@link storedDetails} made, and entries that know nothing of it. */
export function auditDetails(stored: JsonValue): AuditDetails {
  const { outcome, why, values, before, address, unverified, counted } = membersOf(stored);
  return {
    outcome: outcomes.find((known) => known === outcome) ?? 'done',
    why: typeof why === 'string' ? why : null,
    values: values ?? null,
    before: before ?? null,
    address: typeof address === 'string' ? address : null,
    unverified: unverified === true,
    counted: counted === 'not' || counted === 'at least' ? counted : 'exactly',
  };
}

const outcomes: readonly Outcome[] = ['begun', 'refused', 'without effect', 'done'];

function membersOf(stored: JsonValue): { readonly [member: string]: JsonValue | undefined } {
  return stored === null || typeof stored !== 'object' || Array.isArray(stored) ? {} : stored;
}

/** A count as an entry holds it. */
export function countedBy(count: JobCount | null): { count: number; counted: AuditDetails['counted'] } {
  if (count === null) return { count: 0, counted: 'not' };
  return { count: count.count, counted: count.exact ? 'exactly' : 'at least' };
}
