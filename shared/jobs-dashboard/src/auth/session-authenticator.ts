import type { Context } from 'koa';
import type { AccessEvent, Authenticator, OnAccess, Viewer } from './authenticator.js';
import { FormTokens, SignedTokens } from './signed-tokens.js';
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
export class SessionAuthenticator implements Authenticator {
  readonly denial = 'sign-in';
  readonly method: SignInMethod;
  readonly signedTokens: SignedTokens;
  readonly origin: string | undefined;
  readonly #sessions: Sessions;
  readonly #tokens: FormTokens;
  readonly #onAccess: OnAccess;

  /** @param key signs sessions, form tokens and flash messages; random if `undefined` */
  constructor(
    method: SignInMethod,
    key: Buffer | undefined,
    origin: string | undefined,
    now: () => number,
    onAccess: OnAccess,
  ) {
    this.method = method;
    this.origin = origin;
    this.signedTokens = new SignedTokens(key, now);
    this.#sessions = new Sessions(this.signedTokens, now);
    this.#tokens = new FormTokens(this.signedTokens, now);
    this.#onAccess = onAccess;
  }

  async identify(ctx: Context): Promise<Viewer | null> {
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

  hasSession(ctx: Context): boolean {
    return this.#sessions.of(ctx) !== null;
  }

  get formVersion(): string {
    return this.#tokens.version;
  }

  formToken(ctx: Context, viewer: Viewer | null): string {
    return this.#tokens.issue(this.#subject(ctx, viewer));
  }

  acceptsFormToken(ctx: Context, viewer: Viewer | null, token: unknown): boolean {
    return this.#tokens.accepts(this.#subject(ctx, viewer), token);
  }

  signFlash(ctx: Context, viewer: Viewer, message: string): string {
    return this.#tokens.signFlash(this.#subject(ctx, viewer), message);
  }

  readFlash(ctx: Context, viewer: Viewer, token: string): string | null {
    return this.#tokens.readFlash(this.#subject(ctx, viewer), token);
  }

  record(ctx: Context, event: AccessEvent, viewer: Viewer | null, why: string | null = null): void {
    this.#onAccess({ event, address: ctx.ip, viewer, method: ctx.method, path: ctx.path, why });
  }

  /**
   * Returns the subject that tokens are issued for: the session or, without a session, the user. The subject is empty
   * for a client that is about to sign in.
   */
  #subject(ctx: Context, viewer: Viewer | null): string {
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
