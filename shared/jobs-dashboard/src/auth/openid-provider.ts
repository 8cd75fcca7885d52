import { shorten } from '@longshore/edge';
import type { Context } from 'koa';
import type { Configuration, IDToken } from 'openid-client';
import { isLoopbackHost } from '../http/request-origin.js';
import { type RoleMapping, roleOf, type Viewer } from './authenticator.js';
import { readCookie, setCookie } from './sessions.js';
import type { SignedTokens } from './signed-tokens.js';

const COOKIE = 'longshore_sign_in';
/** Time limit for completing a sign-in at the provider, in milliseconds. Also the lifetime of the cookie. */
const SIGN_IN_MS = 10 * 60_000;

/** Options for letting people sign in with an OpenID Connect provider. */
export interface OpenIdOptions extends RoleMapping {
  /** The issuer's URL, without `/.well-known/openid-configuration`. */
  readonly issuer: string;
  readonly clientId: string;
  /** The client's secret; omitted for a public client. */
  readonly clientSecret?: string | undefined;
  /** The public URL of the dashboard, such as `https://ops.example.com/job-dashboard`. */
  readonly baseUrl: string;
  /** The requested scopes, separated by spaces. Defaults to `openid profile email`. */
  readonly scope?: string | undefined;
  /**
   * The claim with the user's roles or groups. A path such as `realm_access.roles` names a nested claim. Defaults to
   * `roles`.
   */
  readonly roleClaim?: string | undefined;
}

/** A sign-in in progress, as stored in the cookie. */
interface Attempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The page to open after signing in, as a path inside the dashboard. */
  readonly next: string;
}

/** The result of a sign-in: the user, or why there is none. */
export type SignInResult =
  | { readonly kind: 'in'; readonly viewer: Viewer; readonly next: string }
  | { readonly kind: 'no role'; readonly name: string }
  /** The sign-in took too long, was completed before, or began in another browser. */
  | { readonly kind: 'expired' }
  /** The provider refused; `why` is its explanation. */
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Signs people in with OpenID Connect, using the authorization code flow with PKCE (RFC 7636). The state of the flow is
 * kept in a signed cookie, not on the server.
 */
export class OpenIdProvider {
  readonly #options: OpenIdOptions;
  readonly #callback: string;
  #configuration: Promise<Configuration> | undefined;

  /** @throws {TypeError} if a URL is invalid, or if the issuer is on another machine and does not use TLS */
  constructor(options: OpenIdOptions) {
    this.#options = options;
    this.#callback = `${urlOf(options.baseUrl, 'The URL of the dashboard').href.replace(/\/$/, '')}/signed-in`;
    const issuer = urlOf(options.issuer, 'The issuer');
    if (issuer.protocol !== 'https:' && !isLoopbackHost(issuer.host))
      throw new TypeError('The issuer URL must begin with https://');
  }

  /**
   * Begins a sign-in. Returns the URL of the provider's sign-in page; the caller must redirect the client to it.
   *
   * @throws {Error} if the provider cannot be reached
   */
  async begin(ctx: Context, tokens: SignedTokens, next: string): Promise<string> {
    const client = await import('openid-client');
    const attempt: Attempt = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
      next,
    };
    const url = client.buildAuthorizationUrl(await this.#discover(), {
      redirect_uri: this.#callback,
      scope: this.#options.scope ?? 'openid profile email',
      code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
      state: attempt.state,
      nonce: attempt.nonce,
    });
    const value = Buffer.from(JSON.stringify(attempt)).toString('base64url');
    setCookie(ctx, COOKIE, tokens.sign('sign-in', value, SIGN_IN_MS), SIGN_IN_MS);
    return url.href;
  }

  /**
   * Completes a sign-in. The provider's response is in the query parameters of the request.
   *
   * @throws {Error} if the provider cannot be reached or its response is invalid
   */
  async complete(ctx: Context, tokens: SignedTokens): Promise<SignInResult> {
    const value = tokens.verify('sign-in', readCookie(ctx, COOKIE));
    setCookie(ctx, COOKIE, '', 0);
    if (value === null) return { kind: 'expired' };
    const attempt = JSON.parse(Buffer.from(value, 'base64url').toString()) as Attempt; // signed, so well-formed
    const response = new URL(this.#callback + ctx.search);
    if (response.searchParams.get('state') !== attempt.state) return { kind: 'expired' };
    const refusal = response.searchParams.get('error');
    if (refusal !== null)
      return { kind: 'refused', why: response.searchParams.get('error_description') ?? refusal };
    const claims = await this.#claims(response, attempt);
    const name = nameIn(claims);
    const role = roleOf(this.#groupsIn(claims) ?? [], this.#options);
    return role === null
      ? { kind: 'no role', name }
      : { kind: 'in', viewer: { name, role }, next: attempt.next };
  }

  async #claims(response: URL, { state, nonce, verifier }: Attempt): Promise<IDToken> {
    const client = await import('openid-client');
    const configuration = await this.#discover();
    const granted = await client.authorizationCodeGrant(configuration, response, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    const claims = granted.claims();
    if (claims === undefined) throw new Error('The provider returned no ID token');
    const { userinfo_endpoint: more } = configuration.serverMetadata();
    if (more === undefined || this.#groupsIn(claims) !== undefined) return claims;
    // Some providers return names and groups only from their user info endpoint.
    const info = await client.fetchUserInfo(configuration, granted.access_token, claims.sub);
    return { ...(info as Partial<IDToken>), ...claims };
  }

  /**
   * Returns the role claim as a list, even if the claim is a single group; `undefined` if there is no such claim. A
   * top-level claim with dots in the name takes precedence over a nested claim.
   */
  #groupsIn(claims: object): readonly unknown[] | undefined {
    const { roleClaim = 'roles' } = this.#options;
    const member = (value: unknown, name: string): unknown =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
    const claim = member(claims, roleClaim) ?? roleClaim.split('.').reduce<unknown>(member, claims);
    return claim === undefined || Array.isArray(claim) ? claim : [claim];
  }

  /** Returns the provider's metadata. Reads it on the first call, and again on the next call after a failure. */
  #discover(): Promise<Configuration> {
    this.#configuration ??= this.#readMetadata().catch((error: unknown) => {
      this.#configuration = undefined;
      throw error;
    });
    return this.#configuration;
  }

  async #readMetadata(): Promise<Configuration> {
    const client = await import('openid-client');
    const { issuer, clientId, clientSecret = '' } = this.#options;
    const authentication = clientSecret === '' ? client.None() : client.ClientSecretPost(clientSecret);
    const url = new URL(issuer);
    // `allowInsecureRequests` is marked as deprecated only to discourage its use. It is safe here, because the
    // constructor allows plain HTTP only for an issuer on this machine.
    const execute = url.protocol === 'https:' ? [] : [client.allowInsecureRequests];
    return client.discovery(url, clientId, undefined, authentication, { execute, timeout: 10 });
  }
}

/**
 * Returns a readable name for a user, cut to 200 characters: the email address, else the preferred user name, else the
 * subject (`sub`). Skips an email address that the provider marks as unverified.
 */
function nameIn({ email, email_verified: isVerified, preferred_username: user, sub }: IDToken): string {
  const names: unknown[] = [isVerified === false ? undefined : email, user];
  return shorten(names.filter((name) => typeof name === 'string').find((name) => name !== '') ?? sub, 200);
}

function urlOf(text: string, what: string): URL {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new TypeError(`${what} must be a URL that begins with https://`);
  return new URL(text);
}
