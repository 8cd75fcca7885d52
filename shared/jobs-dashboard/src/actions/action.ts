import type { JobCount, JsonValue } from '@longshore/jobs';
import type { Role, Viewer } from '../auth/viewer.js';
import type { Form } from '../http/form.js';
import type { DashboardReader } from '../reading/dashboard-reader.js';
import type { Intent } from './audit-details.js';
import type { DashboardControl } from './control.js';

/** What somebody asks for by a form. */
export interface ActionRequest {
  /** The part of the path that names what it is about, a job's id for example. */
  readonly target: string;
  readonly form: Form;
  readonly viewer: Viewer;
  /** Reads what is there now, not a moment ago. */
  readonly reader: Pick<DashboardReader, 'jobs' | 'queues'>;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Values under keys that match are never shown. */
  readonly redact: RegExp;
}

/** What was done. */
export interface ActionResult {
  /** Where to go on, inside the dashboard. */
  readonly next: string;
  /** What it was done to, where the path does not say it. */
  readonly target?: string;
  /** How many things it was done to, `null` if to count took too long; 1 unless given. */
  readonly count?: JobCount | null;
  /** What was there before the `values` of the intent, under the same names. */
  readonly before?: JsonValue;
  /** `false`: all was already as it should be. Default `true`. */
  readonly changed?: boolean;
}

/** Something that a form of a page does. */
export interface Action {
  /** The least role that may do it. */
  readonly role: Role;
  /** What the next page says of it, unless it is a page of the action itself. */
  readonly flash?: string;
  /**
   * What to write down before it is done.
   *
   * @throws {Problem} if a field of the form is wrong
   */
  readonly intent?: (request: ActionRequest) => Intent;
  /** @throws {Problem} if there is no such thing, its state does not allow it, or a field of the form is wrong */
  readonly perform: (control: DashboardControl, request: ActionRequest) => Promise<ActionResult>;
}

/** Actions by their path inside the dashboard, whose last part is what the audit calls them. */
export type Actions = Readonly<Record<`/${string}`, Action>>;
