import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import type { SignedTokens } from './signed-tokens.js';
import type { Role, Viewer } from './authenticator.js';

const COOKIE = 'longshore_dashboard';
const SESSION_MS = 12 * 3_600_000;

interface Session {
  readonly id: string;
  readonly viewer: Viewer;
}

/**
 * Starts, finds and ends sessions. A session lasts 12 hours and is stored in a signed cookie, together with the
 * viewer's name and role. Processes with the same key share all sessions.
 */
export class Sessions {
  readonly #tokens: SignedTokens;
  readonly #ended: EndedSessions;

  constructor(tokens: SignedTokens, now: () => number) {
    this.#tokens = tokens;
    this.#ended = new EndedSessions(now);
  }

  start(ctx: Context, { name, role }: Viewer): void {
    const content = JSON.stringify([randomBytes(16).toString('hex'), name, role]);
    const value = Buffer.from(content).toString('base64url');
    setCookie(ctx, COOKIE, this.#tokens.sign('session', value, SESSION_MS), SESSION_MS);
  }

  /** Deletes the cookie. From now on, this process rejects copies of the cookie; other processes still accept them. */
  end(ctx: Context): void {
    const session = this.of(ctx);
    if (session !== null) this.#ended.add(session.id, SESSION_MS);
    setCookie(ctx, COOKIE, '', 0);
  }

  /** Returns the session of a request; `null` if the request has no valid session. */
  of(ctx: Context): Session | null {
    const value = this.#tokens.verify('session', readCookie(ctx, COOKIE));
    if (value === null) return null;
    const content = Buffer.from(value, 'base64url').toString();
    const [id, name, role] = JSON.parse(content) as [string, string, Role]; // signed, so well-formed
    return this.#ended.has(id) ? null : { id, viewer: { name, role } };
  }
}

/** Returns the value of a cookie set by {@link setCookie}; an empty string if there is none. */
export function readCookie(ctx: Context, name: string): string {
  if (ctx.get('Cookie') === '') return '';
  return ctx.cookies.get(cookieName(ctx, name), { signed: false }) ?? '';
}

/**
 * Sets a cookie that scripts cannot read. The cookie has no path, so browsers limit it to the folder of the requested
 * URL. Therefore, set cookies only in responses for URLs directly inside the dashboard's folder. This works even behind
 * a gateway that strips a prefix from the path, because browsers use the path that they requested.
 *
 * @param value empty to delete the cookie
 * @param maxAge in milliseconds
 */
export function setCookie(ctx: Context, name: string, value: string, maxAge: number): void {
  ctx.cookies.set(cookieName(ctx, name), value, {
    signed: false,
    httpOnly: true,
    sameSite: 'lax',
    secure: ctx.secure,
    path: '',
    overwrite: true,
    ...(value === '' ? { expires: new Date(0) } : { maxAge }),
  });
}

/** Returns the cookie's full name. Browsers accept the prefix `__Secure-` only over TLS (RFC 6265bis, 4.1.3). */
function cookieName({ secure }: Context, name: string): string {
  return secure ? `__Secure-${name}` : name;
}

const MAX_SESSIONS = 10_000;

/** Remembers sessions that were ended by signing out, because their tokens still have valid signatures. */
class EndedSessions {
  readonly #now: () => number;
  /** When each session would have expired, by session id; earliest first. */
  readonly #until = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  add(session: string, lifetimeMs: number): void {
    for (const [ended, until] of this.#until) {
      if (until > this.#now() && this.#until.size < MAX_SESSIONS) break;
      this.#until.delete(ended);
    }
    this.#until.set(session, this.#now() + lifetimeMs);
  }

  has(session: string): boolean {
    return this.#until.has(session);
  }
}
