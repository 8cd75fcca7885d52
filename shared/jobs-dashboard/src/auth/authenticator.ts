import type { Context } from 'koa';
import type { Viewer } from './viewer.js';

/** Authenticates requests, and protects forms and flash messages with signed tokens. */
export interface Authenticator {
  /** Returns who sent the request; `null` if the request must be refused. */
  identify(ctx: Context): Viewer | null | Promise<Viewer | null>;
  /**
   * Part of the version of each page. Changes hourly and on key rotation, so that open pages renew their form tokens
   * long before they expire.
   */
  readonly formVersion: string;
  /** Returns a token for the page's forms. It is valid for this viewer and session only. */
  formToken(ctx: Context, viewer: Viewer | null): string;
  /** The origin at which browsers reach the dashboard; `undefined` if it is the `Host` of their requests. */
  readonly origin: string | undefined;
  acceptsFormToken(ctx: Context, viewer: Viewer | null, token: unknown): boolean;
  /**
   * Signs a flash message for the next page that this viewer loads in this session. The message must not contain a dot.
   */
  signFlash(ctx: Context, viewer: Viewer, message: string): string;
  /** Returns the flash message; `null` if it is forged, has expired, or belongs to another viewer or session. */
  readFlash(ctx: Context, viewer: Viewer, token: string): string | null;
  /**
   * Why requests are refused: `closed` if access has not been configured, `forbidden` if the host application denies
   * it, `sign-in` if the client has to sign in first.
   */
  readonly denial: 'closed' | 'forbidden' | 'sign-in';
}
