import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { OnAccess } from './access-record.js';
import { FormTokens } from './form-tokens.js';
import type { Gate } from './gate.js';
import { isDirectLoopback } from './loopback.js';
import { PasswordGate } from './password-gate.js';
import { Seal } from './seal.js';
import type { Authorize, Viewer } from './viewer.js';

export interface GateOptions {
  readonly authorize?: Authorize | undefined;
  readonly password?: string | undefined;
  readonly production?: boolean | undefined;
  readonly secret?: string | undefined;
  readonly now: () => number;
  readonly onAccess?: OnAccess | undefined;
}

/** Throws a TypeError if both a password and an `authorize` function are given: which of them counts would be a guess. */
export function createGate({
  authorize,
  password = '',
  production,
  secret,
  now,
  onAccess,
}: GateOptions): Gate {
  if (authorize !== undefined && password !== '') {
    throw new TypeError('Give the dashboard either a password or an authorize function, not both');
  }
  if (password !== '') return new PasswordGate(password, now, onAccess);
  const key = secret === undefined ? undefined : createHash('sha256').update(secret).digest();
  const tokens = new FormTokens(new Seal(key, now), now);
  return {
    identify: authorize ?? ((ctx) => localViewer(ctx, production ?? ctx.app.env === 'production')),
    get formVersion() {
      return tokens.version;
    },
    formToken: (_ctx, viewer) => tokens.issue(viewer?.name ?? ''),
    acceptsFormToken: (_ctx, viewer, token) => tokens.accepts(viewer?.name ?? '', token),
    receipt: (_ctx, { name }, deed) => tokens.receipt(name, deed),
    deedOf: (_ctx, { name }, receipt) => tokens.deedOf(name, receipt),
    denial: authorize === undefined ? 'closed' : 'forbidden',
  };
}

function localViewer({ req }: Context, production: boolean): Viewer | null {
  return !production && isDirectLoopback(req) ? { name: 'local', role: 'admin' } : null;
}
