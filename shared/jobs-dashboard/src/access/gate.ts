import type { Context } from 'koa';
import type { Viewer } from './viewer.js';

/** Decides who may come in. */
export interface Gate {
  /** Who it is, or `null` to keep the request out. */
  identify(ctx: Context): Viewer | null | Promise<Viewer | null>;
  /** Changes long before the tokens of forms expire, and when they are of another key. */
  readonly formVersion: string;
  /** A token for the forms of the page under answer, of use to the same viewer, and session, only. */
  formToken(ctx: Context, viewer: Viewer | null): string;
  acceptsFormToken(ctx: Context, viewer: Viewer | null, token: unknown): boolean;
  /** Tells the next page of the same viewer, and session, what was done; `deed` without a dot. */
  receipt(ctx: Context, viewer: Viewer, deed: string): string;
  /** The deed, or `null` if it was another viewer’s, or a while ago. */
  deedOf(ctx: Context, viewer: Viewer, receipt: string): string | null;
  /**
   * What to tell those who are kept out: `closed`, nobody is let in from where they come; `forbidden`, the host
   * application refused them; `password`, they may sign in.
   */
  readonly denial: 'closed' | 'forbidden' | 'password';
}
