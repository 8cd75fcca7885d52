import type { TObject } from 'typebox';
import type { JsonValue } from '../job/job.js';
import type { JobCount } from '../storage/job-reader.js';

/**
 * The kinds of things that operations change. The key is the first part of the action that the audit log records, as in
 * `queues/pause`; `collection` is the path of the kind's collection in the HTTP API.
 */
export const kinds = {
  jobs: { noun: 'job', collection: 'jobs' },
  queues: { noun: 'queue', collection: 'queues' },
  types: { noun: 'job type', collection: 'job-types' },
  recurring: { noun: 'recurring job', collection: 'recurring-jobs' },
  batches: { noun: 'batch', collection: 'batches' },
  servers: { noun: 'server', collection: 'servers' },
  bulk: { noun: 'bulk action', collection: 'bulk-operations' },
  'set-aside': { noun: 'set-aside item', collection: 'set-aside-items' },
  incidents: { noun: 'incident', collection: 'incidents' },
  searches: { noun: 'search', collection: 'saved-searches' },
  installations: { noun: 'installation', collection: 'installations' },
  deployments: { noun: 'deployment', collection: 'deployments' },
  keys: { noun: 'API key', collection: 'api-keys' },
} as const satisfies Record<string, { readonly noun: string; readonly collection: string }>;

export type Kind = keyof typeof kinds;

/** What an operation found and did. Computed before the change is committed, and stored in the audit entry. */
export type Facts =
  | {
      /** `unchanged` if the target already was as requested. */
      readonly outcome: 'done' | 'unchanged';
      /** The number of things changed; `null` if counting took too long. 1 by default, or 0 if unchanged. */
      readonly count?: JobCount | null;
      /** The values before the change, with the names of the operation's fields. */
      readonly before?: JsonValue;
      /** The id or name of what was changed, if the call's target does not identify it. */
      readonly target?: string;
    }
  /** The target does not exist. Nothing was changed. */
  | { readonly outcome: 'unknown'; readonly target?: string }
  /** The target's state does not allow the operation. Nothing was changed. */
  | {
      readonly outcome: 'illegal';
      /** Why not, as a clause: `it is done`. */
      readonly why: string;
      /** The state of the target; absent if something other than a state forbids the operation. */
      readonly state?: string;
      readonly target?: string;
    };

/** The states in which an operation is legal, and those that it leads to. */
export interface LegalStates {
  readonly from: readonly [string, ...string[]];
  readonly to: readonly [string, ...string[]];
  /** The states in which the operation changes nothing; `to` by default. */
  readonly unchanged?: readonly string[];
}

/** What every surface needs to know about an operation in order to offer it. */
export interface OperationDescription<Fields extends TObject = TObject> {
  readonly on: Kind;
  /** The verb: the last segment of its path, and the second part of the action in the audit log. */
  readonly name: string;
  /** A sentence in the imperative, without a full stop: `Retry a failed or cancelled job`. */
  readonly summary: string;
  /** Sentences about its effect. */
  readonly note?: string;
  /** What it changes, in a sentence; the noun of its kind by default. */
  readonly noun?: string;
  /** The past participle, as in “This job cannot be retried”. */
  readonly done: string;
  /** What the operator reads after it was carried out; absent if the next page shows that. */
  readonly message?: string;
  /**
   * What is still to come if the operation has only been requested, as a sentence without a full stop; absent if it always
   * ends with the call.
   */
  readonly pending?: string;
  /** The lowest role of the dashboard that may carry it out. */
  readonly role: 'operator' | 'admin';
  /** Whether it requires a reason in an installation that requires reasons. `false` by default. */
  readonly isReasoned?: boolean;
  /**
   * Whether programs carry it out in large numbers. Over the API, the audit log then records only calls with a reason.
   * `false` by default.
   */
  readonly isFrequent?: boolean;
  readonly states?: LegalStates;
  /** The schema of its fields, without the reason. */
  readonly fields: Fields;
}
