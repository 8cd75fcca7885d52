import type { Context } from 'koa';
import { isDirectLoopback } from './loopback.js';
import { PasswordGate } from './password-gate.js';
import type { Authorize, Viewer } from './viewer.js';

/** Decides who may come in. */
export interface Gate {
  /** Who it is, or `null` to keep the request out. */
  identify(ctx: Context): Viewer | null | Promise<Viewer | null>;
  /**
   * What to tell those who are kept out: `closed`, nobody is let in from where they come; `forbidden`, the host
   * application refused them; `password`, they may sign in.
   */
  readonly denial: 'closed' | 'forbidden' | 'password';
}

export interface GateOptions {
  readonly authorize?: Authorize | undefined;
  readonly password?: string | undefined;
  readonly production?: boolean | undefined;
  readonly now: () => number;
}

/** Throws a TypeError if both a password and an `authorize` function are given: which of them counts would be a guess. */
export function createGate({ authorize, password = '', production, now }: GateOptions): Gate | PasswordGate {
  if (authorize !== undefined && password !== '') {
    throw new TypeError('Give the dashboard either a password or an authorize function, not both');
  }
  if (authorize !== undefined) return { identify: authorize, denial: 'forbidden' };
  if (password !== '') return new PasswordGate(password, now);
  return {
    identify: ({ app, req }) =>
      !(production ?? app.env === 'production') && isDirectLoopback(req)
        ? { name: 'local', role: 'admin' }
        : null,
    denial: 'closed',
  };
}
