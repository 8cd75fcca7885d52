import type { Viewer } from './viewer.js';

/**
 * - `signed in`, `signed out`: a session began or ended
 * - `wrong password`: in the form or by HTTP Basic authentication
 * - `too many wrong passwords`: none is looked at for a while
 * - `refused`: answered with 403: kept out, without the role, or by a form that is not valid
 */
export type AccessEvent =
  'signed in' | 'signed out' | 'wrong password' | 'too many wrong passwords' | 'refused';

/** Somebody who was let in, or was not, for the host application’s records. */
export interface AccessRecord {
  readonly event: AccessEvent;
  /** The client’s, as the application sees it. */
  readonly address: string;
  /** `null` where nobody is known. */
  readonly viewer: Viewer | null;
  readonly method: string;
  readonly path: string;
  /** Why, if refused. */
  readonly why: string | null;
}

export type OnAccess = (record: AccessRecord) => void;
