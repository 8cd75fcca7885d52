import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { Authenticator, type Authorize, type OnAccess, type Viewer } from './authenticator.js';
import { isDirectLoopback } from '../http/request-origin.js';
import { type OpenIdOptions, OpenIdProvider } from './openid-provider.js';
import { isHash, Passwords, sessionKey, type User } from './passwords.js';
import { type ProxyHeaderOptions, trustProxyHeaders } from './proxy-headers.js';
import { SessionAuthenticator } from './session-authenticator.js';

interface AuthenticatorOptions {
  readonly authorize?: Authorize | undefined;
  readonly password?: string | undefined;
  readonly users?: readonly User[] | undefined;
  readonly openId?: OpenIdOptions | undefined;
  readonly proxyHeaders?: ProxyHeaderOptions | undefined;
  readonly production?: boolean | undefined;
  readonly secret?: string | undefined;
  readonly baseUrl?: string | undefined;
}

/**
 * Creates the authenticator for the configured authentication method. If none is configured, only direct loopback
 * clients have access, and only outside production.
 *
 * @throws {TypeError} if more than one method is configured, or if the method's configuration is not valid
 */
export function createAuthenticator(
  options: AuthenticatorOptions,
  now: () => number,
  onAccess: OnAccess = () => undefined,
): Authenticator {
  const { password = '', users = [], openId, proxyHeaders, production, secret } = options;
  const origin = originOf(options.baseUrl ?? openId?.baseUrl);
  const ways = [options.authorize, password || undefined, users[0], openId, proxyHeaders];
  if (ways.filter((way) => way !== undefined).length > 1)
    throw new TypeError(
      'Configure only one of password, users, openId, proxyHeaders and authorize for the dashboard',
    );
  if (openId !== undefined) {
    const method = { kind: 'provider', provider: new OpenIdProvider(openId) } as const;
    const key = keyOf(secret ?? openId.clientSecret, openId);
    return new SessionAuthenticator(method, key, origin, now, onAccess);
  }
  if (password !== '' || users.length > 0) {
    const access = password === '' ? users : password;
    const passwords = new Passwords(access, now, onAccess);
    const hasHash = password === '' ? users.some((user) => isHash(user.password)) : isHash(password);
    // Does not derive a key from password hashes, because then anyone who has read the hashes could sign sessions.
    const key = keyOf(secret ?? (hasHash ? undefined : ''), access);
    return new SessionAuthenticator({ kind: 'password', passwords }, key, origin, now, onAccess);
  }
  const authorize = proxyHeaders === undefined ? options.authorize : trustProxyHeaders(proxyHeaders);
  const key = secret === undefined ? undefined : createHash('sha256').update(secret).digest();
  const local: Authorize = (ctx) => localViewer(ctx, production ?? ctx.app.env === 'production');
  const denial = authorize === undefined ? 'closed' : 'forbidden';
  return new RequestAuthenticator(authorize ?? local, denial, key, origin, now);
}

/** Authenticates each request on its own, without sessions. */
class RequestAuthenticator extends Authenticator {
  override readonly identify: Authorize;
  override readonly denial: 'closed' | 'forbidden';

  constructor(
    identify: Authorize,
    denial: 'closed' | 'forbidden',
    key: Buffer | undefined,
    origin: string | undefined,
    now: () => number,
  ) {
    super(key, origin, now);
    this.identify = identify;
    this.denial = denial;
  }
}

/** @throws {TypeError} if the URL is invalid */
function originOf(baseUrl: string | undefined): string | undefined {
  if (baseUrl === undefined) return undefined;
  if (/^https?:\/\//i.test(baseUrl) && URL.canParse(baseUrl)) return new URL(baseUrl).origin;
  throw new TypeError(
    `The URL of the dashboard is not a URL such as https://ops.example.com/job-dashboard: ${baseUrl}`,
  );
}

function keyOf(secret: string | undefined, access: unknown): Buffer | undefined {
  return secret === undefined ? undefined : sessionKey(secret, access);
}

function localViewer({ req }: Context, production: boolean): Viewer | null {
  return !production && isDirectLoopback(req) ? { name: 'local', role: 'admin' } : null;
}
