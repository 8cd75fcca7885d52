import type { OnAccess } from './auth/access-record.js';
import type { OpenIdOptions } from './auth/openid-provider.js';
import type { User } from './auth/passwords.js';
import type { ProxyHeaderOptions } from './auth/proxy-headers.js';
import type { Authorize } from './auth/viewer.js';
import type { ActionRecord } from './actions/audited-action.js';
import type { JobLinkTemplates } from './format/job-links.js';
import type { DashboardControl } from './actions/control.js';
import type { Branding } from './http/branding.js';
import type { DashboardReader } from './reading/dashboard-reader.js';

export interface DashboardOptions extends JobLinkTemplates, Branding {
  /** The storage to read from. Only its read contract is used. */
  readonly storage: DashboardReader;
  /** The storage that actions change, usually the same as `storage`. Without it, the dashboard is read-only. */
  readonly control?: DashboardControl | undefined;
  /** Called after each action, for the application’s log. */
  readonly onAction?: ((record: ActionRecord) => void) | undefined;
  /** Called on sign-in, sign-out, a wrong password or a refusal. */
  readonly onAccess?: OnAccess | undefined;
  /** The path of the dashboard, as this application sees it. Default `/job-dashboard`. */
  readonly path?: string | undefined;
  /** The name of this installation, such as `staging`, shown on every page and in titles. */
  readonly instance?: string | undefined;
  /**
   * The password that all users share, for the sign-in page and HTTP Basic authentication. Empty counts as missing. At
   * most one of `password`, `users`, `openId`, `proxyHeaders` and `authorize` may be given. Without any of them, only
   * direct loopback clients have access, and nobody does in production.
   */
  readonly password?: string | undefined;
  /** Users with individual passwords and roles, for the sign-in page and HTTP Basic authentication. */
  readonly users?: readonly User[] | undefined;
  /** Lets people sign in with an OpenID Connect provider. */
  readonly openId?: OpenIdOptions | undefined;
  /** Trusts the user headers of an authenticating proxy. */
  readonly proxyHeaders?: ProxyHeaderOptions | undefined;
  /** Authorizes each request with a custom function. */
  readonly authorize?: Authorize | undefined;
  /**
   * The key that signs sessions and forms. Needed only if several processes serve the same dashboard. By default, it is
   * derived from the client secret or the passwords. It is random if there are none, or if a password is configured as
   * a hash.
   */
  readonly secret?: string | undefined;
  /**
   * Whether this is production, where even direct loopback clients have no access unless a way to authenticate is
   * configured. Defaults to whether the Koa application’s `env`, which it takes from `NODE_ENV`, is `production`.
   */
  readonly production?: boolean | undefined;
  /** Whether actions that pause, delete or discard something require a reason. Default `false`. */
  readonly requireReasons?: boolean | undefined;
  /** Values under matching keys are shown as “redacted”. Default: keys that look like secrets. */
  readonly redact?: RegExp | undefined;
  /**
   * Time limit for each part of a page, in milliseconds; a part that takes longer is left out. Default 2000.
   */
  readonly readTimeoutMs?: number | undefined;
  /** Maximum number of viewers that stream running jobs at once; the pages of further viewers poll. Default 100. */
  readonly maxStreams?: number | undefined;
  /** Ends all streams and exports, which would otherwise delay the shutdown of a server. */
  readonly closing?: AbortSignal | undefined;
  /** How long the result of a read is shared by all viewers of this process, in milliseconds. Default 1000. */
  readonly cacheMs?: number | undefined;
  /** Milliseconds since 1970, for sessions and caches. Default: the storage’s clock, by which all times are shown. */
  readonly now?: (() => number) | undefined;
}
