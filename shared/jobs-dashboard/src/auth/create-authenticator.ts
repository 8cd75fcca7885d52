import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { OnAccess } from './access-record.js';
import type { Authenticator } from './authenticator.js';
import { FormTokens } from './form-tokens.js';
import { isDirectLoopback } from './loopback.js';
import { PasswordAuthenticator } from './password-authenticator.js';
import { SignedTokens } from './signed-tokens.js';
import type { Authorize, Viewer } from './viewer.js';

export interface AuthenticatorOptions {
  readonly authorize?: Authorize | undefined;
  readonly password?: string | undefined;
  readonly production?: boolean | undefined;
  readonly secret?: string | undefined;
  readonly now: () => number;
  readonly onAccess?: OnAccess | undefined;
}

/** @throws {TypeError} if both a password and an `authorize` function are given */
export function createAuthenticator({
  authorize,
  password = '',
  production,
  secret,
  now,
  onAccess,
}: AuthenticatorOptions): Authenticator {
  if (authorize !== undefined && password !== '') {
    throw new TypeError('Give the dashboard either a password or an authorize function, not both');
  }
  if (password !== '') return new PasswordAuthenticator(password, now, onAccess);
  const key = secret === undefined ? undefined : createHash('sha256').update(secret).digest();
  const tokens = new FormTokens(new SignedTokens(key, now), now);
  return {
    identify: authorize ?? ((ctx) => localViewer(ctx, production ?? ctx.app.env === 'production')),
    get formVersion() {
      return tokens.version;
    },
    formToken: (_ctx, viewer) => tokens.issue(viewer?.name ?? ''),
    acceptsFormToken: (_ctx, viewer, token) => tokens.accepts(viewer?.name ?? '', token),
    signFlash: (_ctx, { name }, message) => tokens.signFlash(name, message),
    readFlash: (_ctx, { name }, token) => tokens.readFlash(name, token),
    denial: authorize === undefined ? 'closed' : 'forbidden',
  };
}

function localViewer({ req }: Context, production: boolean): Viewer | null {
  return !production && isDirectLoopback(req) ? { name: 'local', role: 'admin' } : null;
}
