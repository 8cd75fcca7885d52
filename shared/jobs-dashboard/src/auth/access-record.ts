import type { Viewer } from './viewer.js';

/**
 * What happened:
 *
 * - `signed in`, `signed out`: a session began or ended
 * - `sign-in failed`: the OpenID Connect provider rejected the sign-in, could not be reached or sent an invalid
 *   response, or the user has no role here
 * - `wrong password`: in the form or with HTTP Basic authentication
 * - `too many wrong passwords`: answered with 429, because this address has sent too many wrong passwords
 * - `refused`: answered with 403, because the client has no access, the viewer's role is too low, or a form has expired
 */
export type AccessEvent =
  'signed in' | 'signed out' | 'sign-in failed' | 'wrong password' | 'too many wrong passwords' | 'refused';

/** A sign-in, sign-out or refusal, for the host application’s log. */
export interface AccessRecord {
  readonly event: AccessEvent;
  /** The client’s address, as the application sees it. */
  readonly address: string;
  /** The authenticated viewer; `null` if the client is not authenticated. */
  readonly viewer: Viewer | null;
  readonly method: string;
  readonly path: string;
  /** The reason for a refusal or a failed sign-in; `null` for other events. */
  readonly why: string | null;
}

export type OnAccess = (record: AccessRecord) => void;
