import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import type { AccessEvent, OnAccess } from './access-record.js';
import { EndedSessions } from './ended-sessions.js';
import { FormTokens } from './form-tokens.js';
import type { Authenticator } from './authenticator.js';
import { Password, sessionKey } from './password.js';
import { SignedTokens } from './signed-tokens.js';
import { Throttle } from './throttle.js';
import type { Viewer } from './viewer.js';

const COOKIE = 'longshore_dashboard';
/** Browsers accept this name over TLS only (RFC 6265bis, 4.1.3). */
const SECURE_COOKIE = `__Secure-${COOKIE}`;
const SESSION_MS = 12 * 3_600_000;
/**
 * After 10 wrong passwords in a minute from one address, further wrong ones are answered with 429; after 100, even the
 * right one is.
 */
const MISSES_A_MINUTE = 10;
const TRIES_A_MINUTE = 100;
const viewer: Viewer = { name: 'admin', role: 'admin' };

export type PasswordCheck =
  { readonly kind: 'in' | 'wrong' } | { readonly kind: 'wait'; readonly waitMs: number };

/**
 * Authenticates with one shared password: people sign in and get a signed session cookie for 12 hours, scripts use HTTP
 * Basic authentication with any user name. The cookie's path is the one the browser sees, even if a gateway strips a prefix.
 */
export class PasswordAuthenticator implements Authenticator {
  readonly denial = 'password';
  readonly #password: Password;
  readonly #signedTokens: SignedTokens;
  readonly #tokens: FormTokens;
  readonly #misses: Throttle;
  readonly #tries: Throttle;
  readonly #endedSessions: EndedSessions;
  readonly #onAccess: OnAccess;

  constructor(password: string, now: () => number = Date.now, onAccess: OnAccess = () => undefined) {
    this.#onAccess = onAccess;
    this.#password = new Password(password);
    this.#signedTokens = new SignedTokens(sessionKey(password), now);
    this.#tokens = new FormTokens(this.#signedTokens, now);
    this.#misses = new Throttle(MISSES_A_MINUTE, 60_000, now);
    this.#tries = new Throttle(TRIES_A_MINUTE, 60_000, now);
    this.#endedSessions = new EndedSessions(now);
  }

  identify(ctx: Context): Viewer | null {
    if (this.#session(ctx) !== null) return viewer;
    const basic = basicCredentials(ctx.get('Authorization'));
    if (basic === null || this.checkPassword(ctx, basic.password).kind !== 'in') return null;
    return { ...viewer, name: basic.user || viewer.name, unverified: true };
  }

  /**
   * Checks a password, unless there were too many wrong ones from this address. Several people may share an
   * address (behind an untrusted gateway, for example), so the right password is accepted up to a higher
   * limit.
   */
  checkPassword(ctx: Context, password: string): PasswordCheck {
    const closedMs = this.#tries.waitMs(ctx.ip);
    if (closedMs === 0 && this.#password.matches(password)) return { kind: 'in' };
    if (closedMs === 0) this.#tries.miss(ctx.ip);
    const waitMs = Math.max(closedMs, this.#misses.waitMs(ctx.ip));
    if (waitMs === 0) this.#misses.miss(ctx.ip);
    this.#record(ctx, waitMs === 0 ? 'wrong password' : 'too many wrong passwords');
    return waitMs === 0 ? { kind: 'wrong' } : { kind: 'wait', waitMs };
  }

  /**
   * Sets the session cookie. It names no path, so browsers limit it to the folder of this response, which must be the
   * dashboard’s.
   */
  startSession(ctx: Context): void {
    const session = randomBytes(16).toString('hex');
    setCookie(ctx, this.#signedTokens.sign('session', session, SESSION_MS), SESSION_MS);
    this.#record(ctx, 'signed in', viewer);
  }

  /** Ends the session in this process, even for copies of the cookie. Other processes still accept such copies. */
  endSession(ctx: Context): void {
    const session = this.#session(ctx);
    if (session !== null) this.#endedSessions.add(session, SESSION_MS);
    setCookie(ctx, '', 0);
    this.#record(ctx, 'signed out', viewer);
  }

  hasSession(ctx: Context): boolean {
    return this.#session(ctx) !== null;
  }

  get formVersion(): string {
    return this.#tokens.version;
  }

  formToken(ctx: Context, who: Viewer | null): string {
    return this.#tokens.issue(this.#subject(ctx, who));
  }

  acceptsFormToken(ctx: Context, who: Viewer | null, token: unknown): boolean {
    return this.#tokens.accepts(this.#subject(ctx, who), token);
  }

  signFlash(ctx: Context, who: Viewer, message: string): string {
    return this.#tokens.signFlash(this.#subject(ctx, who), message);
  }

  readFlash(ctx: Context, who: Viewer, token: string): string | null {
    return this.#tokens.readFlash(this.#subject(ctx, who), token);
  }

  /** Returns whom tokens are valid for: the session or, without one, the user. Empty for a client that is about to sign in. */
  #subject(ctx: Context, who: Viewer | null): string {
    const session = this.#session(ctx);
    if (session !== null) return `session ${session}`;
    return who === null ? '' : `user ${who.name}`;
  }

  #record(ctx: Context, event: AccessEvent, who: Viewer | null = null): void {
    this.#onAccess({ event, address: ctx.ip, viewer: who, method: ctx.method, path: ctx.path, why: null });
  }

  #session(ctx: Context): string | null {
    if (ctx.get('Cookie') === '') return null;
    const session = this.#signedTokens.verify(
      'session',
      ctx.cookies.get(cookieOf(ctx), { signed: false }) ?? '',
    );
    return session !== null && this.#endedSessions.has(session) ? null : session;
  }
}

function cookieOf({ secure }: Context): string {
  return secure ? SECURE_COOKIE : COOKIE;
}

function setCookie(ctx: Context, value: string, maxAge: number): void {
  ctx.cookies.set(cookieOf(ctx), value, {
    signed: false,
    httpOnly: true,
    sameSite: 'lax',
    secure: ctx.secure,
    path: '',
    overwrite: true,
    ...(value === '' ? { expires: new Date(0) } : { maxAge }),
  });
}

/** Parses HTTP Basic credentials (RFC 7617); `null` for another scheme or a malformed header. */
function basicCredentials(header: string): { user: string; password: string } | null {
  const encoded = /^basic +([a-z\d+/]+=*) *$/i.exec(header)?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
