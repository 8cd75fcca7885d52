import type { Context } from 'koa';
import type { Viewer } from './viewer.js';

/** Authenticates requests, and signs their forms and flash messages. */
export interface Authenticator {
  /** Returns who sent the request, or `null` to refuse it. */
  identify(ctx: Context): Viewer | null | Promise<Viewer | null>;
  /** Changes hourly and on key rotation, so that open pages renew their form tokens long before these expire. */
  readonly formVersion: string;
  /** Returns a token for the forms of this page, valid for this viewer and session only. */
  formToken(ctx: Context, viewer: Viewer | null): string;
  acceptsFormToken(ctx: Context, viewer: Viewer | null, token: unknown): boolean;
  /**
   * Signs a flash message for the next page of this viewer and session. The message must not contain a dot.
   */
  signFlash(ctx: Context, viewer: Viewer, message: string): string;
  /** Returns the flash message, or `null` if it has expired or belongs to another viewer. */
  readFlash(ctx: Context, viewer: Viewer, token: string): string | null;
  /**
   * Why requests are refused: `closed` if access has not been configured, `forbidden` if the host application denies
   * it, `sign-in` if the client has to sign in first.
   */
  readonly denial: 'closed' | 'forbidden' | 'sign-in';
}
