import type { JsonValue } from '@longshore/jobs';
import type { JobCount } from '@longshore/jobs/storage';

/** The content of an action request, apart from the viewer, the action and the target in the path. */
export interface Intent {
  /**
   * What to change, if a form field names it and the path does not. Some names, such as `..`, cannot be part of a path.
   */
  readonly target?: string;
  /** The jobs of a bulk action: `{ state, terms }` or `{ ids }`. */
  readonly filter?: { readonly [member: string]: JsonValue };
  /** The submitted values, such as a job's new time or a queue's new limits. */
  readonly values?: JsonValue;
}

/**
 * The outcome of an action:
 *
 * - `refused`: nothing was changed, for the reason given
 * - `without effect`: no change was needed
 * - `done`: something was changed; the audit entry's `count` is the number of affected jobs or other targets
 */
export type Outcome = 'refused' | 'without effect' | 'done';

/** The details of an audit entry. They are stored in the entry's `filter`, together with the filter of the intent. */
export interface AuditDetails {
  readonly outcome: Outcome;
  readonly why: string | null;
  readonly values: JsonValue;
  /** The values before the change; `null` if unknown. */
  readonly before: JsonValue;
  /** The client’s IP address; `null` if unknown. */
  readonly address: string | null;
  /** Whether the action was requested through the HTTP API. */
  readonly viaApi: boolean;
  /** Whether Longshore took the action without a request from a person. */
  readonly automatic: boolean;
  /** Whether the viewer's name was merely entered by the client rather than authenticated. */
  readonly unverified: boolean;
  /** Whether `count` is exact, a lower bound, or missing because counting took too long. */
  readonly counted: 'exactly' | 'at least' | 'not';
}

/** Returns what an audit entry stores as its `filter`. Members that have their default value are left out. */
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

/** Parses the `filter` of an audit entry, as returned by {@link storedDetails}. Missing members get their defaults. */
export function auditDetails(stored: JsonValue): AuditDetails {
  const { outcome, why, values, before, address, unverified, counted, via, automatic } = membersOf(stored);
  return {
    outcome: outcomes.find((known) => known === outcome) ?? 'done',
    why: typeof why === 'string' ? why : null,
    values: values ?? null,
    before: before ?? null,
    address: typeof address === 'string' ? address : null,
    unverified: unverified === true,
    viaApi: via === 'api',
    automatic: automatic === true,
    counted: counted === 'not' || counted === 'at least' ? counted : 'exactly',
  };
}

const outcomes: readonly Outcome[] = ['refused', 'without effect', 'done'];

function membersOf(stored: JsonValue): { readonly [member: string]: JsonValue | undefined } {
  return stored === null || typeof stored !== 'object' || Array.isArray(stored) ? {} : stored;
}

/** Converts a count to the members of an audit entry. `null` means that counting took too long. */
export function countedBy(count: JobCount | null): { count: number; counted: AuditDetails['counted'] } {
  if (count === null) return { count: 0, counted: 'not' };
  return { count: count.count, counted: count.exact ? 'exactly' : 'at least' };
}
