import type { JsonValue } from '@longshore/jobs';
import type { JobCount, NewAuditEntry } from '@longshore/jobs/storage';
import type { Role, Viewer } from '../auth/viewer.js';
import type { Form } from '../http/form.js';
import type { Intent } from './audit-details.js';
import type { DashboardControl } from './control.js';

/** A submitted form that requests an action, with its context. */
export interface ActionRequest {
  /** The part of the path that identifies what to change, such as the id of a job. */
  readonly target: string;
  readonly form: Form;
  readonly viewer: Viewer;
  /** The current time, in milliseconds since 1970. */
  readonly nowMs: number;
  /** The viewer's reason; `null` if they gave none. */
  readonly reason: string | null;
  /** Matches keys whose values are redacted. */
  readonly redact: RegExp;
}

/** The result of an action that was carried out, or that turned out not to be needed. */
export interface ActionResult {
  /** The page to show next, as a path inside the dashboard. */
  readonly next: string;
  /** What was changed, if the action's path does not identify it. */
  readonly target?: string;
  /** How many things were changed; `null` if counting took too long. Defaults to 1, or to 0 if `changed` is `false`. */
  readonly count?: JobCount | null;
  /** The values before the change, with the same names as the `values` of the intent. */
  readonly before?: JsonValue;
  /** `false` if no change was needed. Defaults to `true`. */
  readonly changed?: boolean;
}

/**
 * Builds the `audit` option of a storage call: a function that receives the result of that call and returns the audit
 * entry.
 *
 * @param judge converts the result of the storage call to the action's result; throws a Problem if the target does not
 *   exist or its state does not allow the action
 */
export type Audited = <Result>(judge: (result: Result) => ActionResult) => (result: Result) => NewAuditEntry;

/** An action that the dashboard offers as a form. */
export interface Action {
  /** The lowest role that may take the action. */
  readonly role: Role;
  /** Whether the action requires a reason when the option `requireReasons` is set. Defaults to `false`. */
  readonly isReasoned?: boolean;
  /** The flash message that the next page shows; omitted if that page shows the result anyway. */
  readonly flash?: string;
  /**
   * Returns what the audit entry should record about the request itself. Called before the action is carried out.
   *
   * @throws {Problem} if a form field is invalid
   */
  readonly intent?: (request: ActionRequest) => Intent;
  /**
   * Carries out the action in one storage call.
   *
   * @throws {Problem} if a form field is invalid
   */
  readonly perform: (control: DashboardControl, request: ActionRequest, audit: Audited) => Promise<unknown>;
}

/** Actions, by path inside the dashboard. */
export type Actions = Readonly<Record<`/${string}`, Action>>;
