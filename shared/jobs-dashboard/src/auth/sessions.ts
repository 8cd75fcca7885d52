import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import { EndedSessions } from './ended-sessions.js';
import type { SignedTokens } from './signed-tokens.js';
import type { Role, Viewer } from './viewer.js';

const COOKIE = 'longshore_dashboard';
const SESSION_MS = 12 * 3_600_000;

/** The session of a viewer who has signed in. */
export interface Session {
  readonly id: string;
  readonly viewer: Viewer;
}

/**
 * Sessions of 12 hours, each in a signed cookie that also contains the viewer's name and role. Processes with the same
 * key share all sessions.
 */
export class Sessions {
  readonly #tokens: SignedTokens;
  readonly #ended: EndedSessions;

  constructor(tokens: SignedTokens, now: () => number) {
    this.#tokens = tokens;
    this.#ended = new EndedSessions(now);
  }

  /** Starts a session by setting its cookie. */
  start(ctx: Context, { name, role }: Viewer): void {
    const content = JSON.stringify([randomBytes(16).toString('hex'), name, role]);
    const value = Buffer.from(content).toString('base64url');
    setCookie(ctx, COOKIE, this.#tokens.sign('session', value, SESSION_MS), SESSION_MS);
  }

  /** Ends the session in this process, including copies of the cookie. Other processes still accept such copies. */
  end(ctx: Context): void {
    const session = this.of(ctx);
    if (session !== null) this.#ended.add(session.id, SESSION_MS);
    setCookie(ctx, COOKIE, '', 0);
  }

  /** Returns the session of a request; `null` if it has none, or one that is forged, expired or ended. */
  of(ctx: Context): Session | null {
    const value = this.#tokens.verify('session', readCookie(ctx, COOKIE));
    if (value === null) return null;
    const content = Buffer.from(value, 'base64url').toString();
    const [id, name, role] = JSON.parse(content) as [string, string, Role]; // signed, so well-formed
    return this.#ended.has(id) ? null : { id, viewer: { name, role } };
  }
}

/** Returns the value of a cookie set by {@link setCookie}; empty if there is none. */
export function readCookie(ctx: Context, name: string): string {
  if (ctx.get('Cookie') === '') return '';
  return ctx.cookies.get(cookieName(ctx, name), { signed: false }) ?? '';
}

/**
 * Sets a cookie that scripts cannot read. The cookie has no path, so browsers limit it to the folder of the requested
 * URL, which must be the dashboard's. This also works behind a gateway that strips a prefix from the path, because
 * browsers apply the path that they requested.
 *
 * @param value empty to delete the cookie
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

/** Returns the name of a cookie. Browsers accept the prefix `__Secure-` only over TLS (RFC 6265bis, 4.1.3). */
function cookieName({ secure }: Context, name: string): string {
  return secure ? `__Secure-${name}` : name;
}
