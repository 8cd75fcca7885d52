import type { Context } from 'koa';
import { type AccessEvent, Authenticator, type OnAccess, type Viewer } from './authenticator.js';
import type { OpenIdProvider } from './openid-provider.js';
import type { Passwords } from './passwords.js';
import { Sessions } from './sessions.js';

type SignInMethod =
  | { readonly kind: 'password'; readonly passwords: Passwords }
  | { readonly kind: 'provider'; readonly provider: OpenIdProvider };

/**
 * Authenticates people by their sessions. A session begins with a sign-in. If passwords are configured, scripts can
 * instead send a password with each request, using HTTP Basic authentication.
 */
export class SessionAuthenticator extends Authenticator {
  override readonly denial = 'sign-in';
  readonly method: SignInMethod;
  readonly #sessions: Sessions;
  readonly #onAccess: OnAccess;

  /** @param key signs sessions, form tokens and flash messages; random if `undefined` */
  constructor(
    method: SignInMethod,
    key: Buffer | undefined,
    origin: string | undefined,
    now: () => number,
    onAccess: OnAccess,
  ) {
    super(key, origin, now);
    this.method = method;
    this.#sessions = new Sessions(this.signedTokens, now);
    this.#onAccess = onAccess;
  }

  override async identify(ctx: Context): Promise<Viewer | null> {
    const session = this.#sessions.of(ctx);
    if (session !== null || this.method.kind !== 'password') return session?.viewer ?? null;
    const basic = basicCredentials(ctx.get('Authorization'));
    return basic === null ? null : this.method.passwords.check(ctx, basic.user, basic.password);
  }

  startSession(ctx: Context, viewer: Viewer): void {
    this.#sessions.start(ctx, viewer);
    this.record(ctx, 'signed in', viewer);
  }

  endSession(ctx: Context): void {
    const session = this.#sessions.of(ctx);
    this.#sessions.end(ctx);
    this.record(ctx, 'signed out', session?.viewer ?? null);
  }

  override hasSession(ctx: Context): boolean {
    return this.#sessions.of(ctx) !== null;
  }

  record(ctx: Context, event: AccessEvent, viewer: Viewer | null, why: string | null = null): void {
    this.#onAccess({ event, address: ctx.ip, viewer, method: ctx.method, path: ctx.path, why });
  }

  /** Returns the session or, without a session, the user. */
  protected override subjectOf(ctx: Context, viewer: Viewer | null): string {
    const session = this.#sessions.of(ctx);
    if (session !== null) return `session ${session.id}`;
    return viewer === null ? '' : `user ${viewer.name}`;
  }
}

/** Parses HTTP Basic credentials (RFC 7617); `null` for another scheme or a malformed header. */
function basicCredentials(header: string): { user: string; password: string } | null {
  const encoded = /^basic +([a-z\d+/]+=*) *$/i.exec(header)?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
