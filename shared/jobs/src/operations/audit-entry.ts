import type { JsonValue } from '../job/job.js';
import type { NewAuditEntry } from '../storage/audit-log.js';
import { type Facts, kinds, type OperationDescription } from './operation-description.js';

/** Who carries out an operation, and over which surface. */
export interface Actor {
  /** The name of the person or program, such as that of an API key. */
  readonly name: string;
  readonly via: 'api' | 'dashboard' | 'command';
  /**
   * The queues whose jobs the actor may see; `null` for all. Every surface has to state this: the wrapper of all operations
   * passes it on to the storage, so that no operation reaches jobs that its caller cannot see.
   */
  readonly visibleQueues: readonly string[] | null;
  /** The client's IP address; `null` or absent if unknown. */
  readonly address?: string | null;
  /** Whether the client merely entered the name. `false` by default. */
  readonly isUnverified?: boolean;
}

/**
 * The outcome of an action in the audit log:
 *
 * - `refused`: nothing was changed, for the reason given
 * - `without effect`: no change was needed
 * - `done`: something was changed; the entry's `count` is the number of affected jobs or other targets
 */
export type Outcome = 'refused' | 'without effect' | 'done';

/** The details of an audit entry, which are stored in its `filter` beside the selection of jobs. */
export interface AuditDetails {
  readonly outcome: Outcome;
  /** Why the action was refused; `null` if it was not. */
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
  /** Whether the name was merely entered by the client rather than authenticated. */
  readonly unverified: boolean;
  /** Whether `count` is exact, a lower bound, or missing because counting took too long. */
  readonly counted: 'exactly' | 'at least' | 'not';
}

/** The parts of a call that its audit entry records. */
interface RecordedCall {
  readonly target: unknown;
  readonly fields: unknown;
  readonly by: Actor;
  readonly reason?: string | null | undefined;
  readonly selected?: { readonly [member: string]: JsonValue } | undefined;
}

/** Returns the name under which the audit log records an operation, such as `queues/pause`. */
export function actionOf({ on, name }: Pick<OperationDescription, 'on' | 'name'>): string {
  return `${on}/${name}`;
}

/** Returns the audit entry of a call. Details that have their default value are left out. */
export function auditEntryOf(
  description: OperationDescription,
  call: RecordedCall,
  facts: Facts,
): NewAuditEntry {
  const { by, reason = null, selected = {}, target } = call;
  const { count, exactly } = countOf(facts);
  const why = refusalOf(description, facts);
  const outcome = why !== null ? 'refused' : facts.outcome === 'unchanged' ? 'without effect' : 'done';
  const before = 'before' in facts ? facts.before : undefined;
  const values = recordedValues(call.fields);
  return {
    who: by.name,
    action: actionOf(description),
    target: facts.target ?? (typeof target === 'string' ? target : null),
    count,
    reason,
    filter: {
      ...selected,
      ...(values !== null && { values }),
      ...(before !== undefined && before !== null && { before }),
      ...(outcome !== 'done' && { outcome }),
      ...(why !== null && { why }),
      ...(typeof by.address === 'string' && { address: by.address }),
      ...(by.isUnverified === true && { unverified: true }),
      ...(exactly !== 'exactly' && { counted: exactly }),
      ...(by.via === 'api' && { via: 'api' }),
    },
  };
}

/** Returns why a call was refused, as a sentence without a full stop; `null` if it was not. */
export function refusalOf(
  { on, noun = kinds[on].noun, done }: OperationDescription,
  facts: Facts,
): string | null {
  if (facts.outcome === 'unknown') return `There is no such ${noun}`;
  return facts.outcome === 'illegal' ? `This ${noun} cannot be ${done}: ${facts.why}` : null;
}

/** Returns how many things a call changed, and how exactly that is known. */
export function countOf(facts: Facts): { readonly count: number; readonly exactly: AuditDetails['counted'] } {
  if (facts.outcome !== 'done' && facts.outcome !== 'unchanged') return { count: 0, exactly: 'exactly' };
  const { count = { count: facts.outcome === 'done' ? 1 : 0, exact: true } } = facts;
  if (count === null) return { count: 0, exactly: 'not' };
  return { count: count.count, exactly: count.exact ? 'exactly' : 'at least' };
}

/** Parses the `filter` of an audit entry. Missing members get their defaults. */
export function auditDetails(stored: JsonValue): AuditDetails {
  const { outcome, why, values, before, address, unverified, counted, via, automatic } = membersOf(stored);
  return {
    outcome: outcomes.find((candidate) => candidate === outcome) ?? 'done',
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

/**
 * Returns the fields of a call as the audit log records them; `null` if none is set. Arguments are left out, because the
 * audit log is kept for longer than jobs are, and arguments may be large and may contain secrets.
 */
export function recordedValues(fields: unknown): JsonValue {
  const values = JSON.parse(JSON.stringify(fields ?? {})) as Readonly<Record<string, JsonValue>>;
  const entries = Object.entries(values)
    .filter(([, value]) => value !== false)
    .map(([name, value]) => [name, name === 'args' ? '…' : value] as const);
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

function membersOf(stored: JsonValue): { readonly [member: string]: JsonValue | undefined } {
  return stored === null || typeof stored !== 'object' || Array.isArray(stored) ? {} : stored;
}
