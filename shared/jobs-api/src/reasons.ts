import { bounds, type BulkOperation, type NewAuditEntry } from '@longshore/jobs/storage';
import type { CallContext } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { text } from './fields.js';

/** A caller's reason for an action, recorded in the audit log. */
export const Reason = text(bounds.reasonLength, 'Why; kept in the audit log');

/** The request body of an operation that takes only an optional reason. */
export const ReasonBody = Type.Object({ reason: Type.Optional(Reason) }, { additionalProperties: false });

export type ReasonBody = Static<typeof ReasonBody>;

/** Marks audit entries of actions that were taken over the HTTP API. */
const origin = { via: 'api' } as const;

/** An action taken over the API, as recorded in the audit log. */
export interface ApiAction {
  /** The name of the action, such as `queues/pause`. The dashboard's audit entries use the same names. */
  readonly action: string;
  readonly target: string;
  readonly reason: string | undefined;
}

/**
 * Returns the `audit` option for an action: a function that creates the audit entry from the action's result.
 *
 * @param isEffective returns whether the action changed something
 */
export function audited<Result>(
  { principal }: CallContext,
  { action, target, reason }: ApiAction,
  isEffective: (result: Result) => boolean,
): (result: Result) => NewAuditEntry {
  return (result) => {
    const changed = isEffective(result);
    return {
      who: principal?.name ?? 'anonymous',
      action,
      target,
      filter: changed ? origin : { ...origin, outcome: 'without effect' },
      count: changed ? 1 : 0,
      reason: reason ?? null,
    };
  };
}

/**
 * Returns the `audit` option for an action on a job or a batch; `undefined` without a reason. Applications perform such
 * actions in large numbers, so only those with a reason are recorded.
 */
export function auditedIfReasoned<Result>(
  context: CallContext,
  action: ApiAction,
  isEffective: (result: Result) => boolean,
): ((result: Result) => NewAuditEntry) | undefined {
  return action.reason === undefined ? undefined : audited(context, action, isEffective);
}

/**
 * Returns the `audit` option for a bulk deletion; `undefined` without a reason, because the bulk operation itself
 * records its filter and who started it.
 */
export function auditedBulkDeletion(
  { principal }: CallContext,
  reason: string | undefined,
): ((operation: BulkOperation) => NewAuditEntry) | undefined {
  if (reason === undefined) return undefined;
  return ({ id, matched }) => ({
    who: principal?.name ?? 'anonymous',
    action: 'bulk-delete',
    target: id,
    filter: {
      ...origin,
      ...(matched?.exact === true ? {} : { counted: matched === null ? 'not' : 'at least' }),
    },
    count: matched?.count ?? 0,
    reason,
  });
}
