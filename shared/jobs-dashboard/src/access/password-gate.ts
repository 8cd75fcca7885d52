import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import type { AccessEvent, OnAccess } from './access-record.js';
import { FormTokens } from './form-tokens.js';
import type { Gate } from './gate.js';
import { Password, sessionKey } from './password.js';
import { Seal } from './seal.js';
import { Throttle } from './throttle.js';
import type { Viewer } from './viewer.js';

const COOKIE = 'longshore_dashboard';
const SESSION_MS = 12 * 3_600_000;
const MISSES_A_MINUTE = 10;
const viewer: Viewer = { name: 'admin', role: 'admin' };

export type SignIn = { readonly kind: 'in' | 'wrong' } | { readonly kind: 'wait'; readonly waitMs: number };

/**
 * One password for all: people sign in on a page and get a signed session cookie for 12 hours, scripts send it by HTTP
 * Basic authentication with any user name. The cookie's path is the one the browser sees, whatever a gateway strips.
 */
export class PasswordGate implements Gate {
  readonly denial = 'password';
  readonly #password: Password;
  readonly #seal: Seal;
  readonly #tokens: FormTokens;
  readonly #throttle: Throttle;
  readonly #onAccess: OnAccess;

  constructor(password: string, now: () => number = Date.now, onAccess: OnAccess = () => undefined) {
    this.#onAccess = onAccess;
    this.#password = new Password(password);
    this.#seal = new Seal(sessionKey(password), now);
    this.#tokens = new FormTokens(this.#seal);
    this.#throttle = new Throttle(MISSES_A_MINUTE, 60_000, now);
  }

  identify(ctx: Context): Viewer | null {
    if (this.#session(ctx) !== null) return viewer;
    const basic = basicCredentials(ctx.get('Authorization'));
    if (basic === null || this.try(ctx, basic.password).kind !== 'in') return null;
    return { ...viewer, name: basic.user || viewer.name, unverified: true };
  }

  /** Checks a password, unless there were too many wrong ones from this address of late. */
  try(ctx: Context, password: string): SignIn {
    const waitMs = this.#throttle.waitMs(ctx.ip);
    if (waitMs > 0) {
      this.#tell(ctx, 'too many wrong passwords');
      return { kind: 'wait', waitMs };
    }
    if (this.#password.matches(password)) return { kind: 'in' };
    this.#throttle.miss(ctx.ip);
    this.#tell(ctx, 'wrong password');
    return { kind: 'wrong' };
  }

  /** Only to be answered under the dashboard's own path: without a path of its own, the cookie is scoped to it. */
  startSession(ctx: Context): void {
    const session = randomBytes(16).toString('hex');
    setCookie(ctx, this.#seal.close('session', session, SESSION_MS), SESSION_MS);
    this.#tell(ctx, 'signed in', viewer);
  }

  endSession(ctx: Context): void {
    setCookie(ctx, '', 0);
    this.#tell(ctx, 'signed out', viewer);
  }

  hasSession(ctx: Context): boolean {
    return this.#session(ctx) !== null;
  }

  /** Of use to the same session only. */
  formToken(ctx: Context): string {
    return this.#tokens.issue(this.#session(ctx) ?? '');
  }

  acceptsFormToken(ctx: Context, _viewer: Viewer | null, token: unknown): boolean {
    return this.#tokens.accepts(this.#session(ctx) ?? '', token);
  }

  #tell(ctx: Context, event: AccessEvent, who: Viewer | null = null): void {
    this.#onAccess({ event, address: ctx.ip, viewer: who, method: ctx.method, path: ctx.path, why: null });
  }

  #session(ctx: Context): string | null {
    return this.#seal.open('session', ctx.cookies.get(COOKIE, { signed: false }) ?? '');
  }
}

function setCookie(ctx: Context, value: string, maxAge: number): void {
  ctx.cookies.set(COOKIE, value, {
    signed: false,
    httpOnly: true,
    sameSite: 'lax',
    secure: ctx.secure,
    path: '',
    overwrite: true,
    ...(value === '' ? { expires: new Date(0) } : { maxAge }),
  });
}

/** RFC 7617; `null` if the header is of another scheme or damaged. */
function basicCredentials(header: string): { user: string; password: string } | null {
  const encoded = /^basic +([a-z\d+/]+=*) *$/i.exec(header)?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
