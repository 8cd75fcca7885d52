import type { JsonValue } from '@longshore/jobs';
import type { JobCount, NewAuditEntry } from '@longshore/jobs/storage';
import type { Role, Viewer } from '../auth/viewer.js';
import type { Form } from '../http/form.js';
import type { Intent } from './audit-details.js';
import type { DashboardControl } from './control.js';

/** A submitted form that requests an action. */
export interface ActionRequest {
  /** The part of the path that identifies what to change, such as the id of a job. */
  readonly target: string;
  readonly form: Form;
  readonly viewer: Viewer;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** The viewer's reason; `null` if they gave none. */
  readonly reason: string | null;
  /** Matches the keys whose values are never shown. */
  readonly redact: RegExp;
}

/** The result of an action that was carried out. */
export interface ActionResult {
  /** The page to show next, as a path inside the dashboard. */
  readonly next: string;
  /** What was changed, if the path does not identify it. */
  readonly target?: string;
  /** How many things were changed; `null` if counting took too long. By default 1, or 0 if `changed` is `false`. */
  readonly count?: JobCount | null;
  /** The values before the change, with the same names as the `values` of the intent. */
  readonly before?: JsonValue;
  /** `false` if no change was needed; `true` by default. */
  readonly changed?: boolean;
}

/**
 * Builds the `audit` option of a storage call: a function that returns the audit entry for the result of that call.
 *
 * @param judge converts the result of the storage call to the result for the operator; throws a Problem if the target
 *   does not exist or its state does not allow the action
 */
export type Audited = <Result>(judge: (result: Result) => ActionResult) => (result: Result) => NewAuditEntry;

/** An action that operators can take. */
export interface Action {
  /** The lowest role that is allowed to take the action. */
  readonly role: Role;
  /** Whether the action requires a reason if the option `requireReasons` is set; `false` by default. */
  readonly isReasoned?: boolean;
  /** The flash message of the next page; missing if that page shows the result anyway. */
  readonly flash?: string;
  /**
   * Returns what to record before the action is carried out.
   *
   * @throws {Problem} if a field of the form is invalid
   */
  readonly intent?: (request: ActionRequest) => Intent;
  /**
   * Carries out the action in one storage call.
   *
   * @throws {Problem} if a field of the form is invalid
   */
  readonly perform: (control: DashboardControl, request: ActionRequest, audit: Audited) => Promise<unknown>;
}

/** Actions by their path inside the dashboard. */
export type Actions = Readonly<Record<`/${string}`, Action>>;
