import type { JobDefinition } from '@longshore/jobs';
import type { OptionNames } from '@longshore/jobs/storage';
import type { Authorize, OnAccess } from './auth/authenticator.js';
import type { OpenIdOptions } from './auth/openid-provider.js';
import type { User } from './auth/passwords.js';
import type { ProxyHeaderOptions } from './auth/proxy-headers.js';
import type { OperableStorage } from '@longshore/jobs/operations';
import type { ActionRecord } from './actions/action.js';
import type { JobLinkTemplates, RunbookTemplate } from './format/job-links.js';
import type { Branding } from './http/branding.js';
import type { DashboardStorage } from './reading/dashboard-reader.js';

export interface DashboardOptions extends JobLinkTemplates, RunbookTemplate, Branding {
  /** The storage to read from, and in which to record what the warnings say. */
  readonly storage: DashboardStorage;
  /** The storage that actions change, usually the same as `storage`. Without it, the dashboard is read-only. */
  readonly control?: OperableStorage | undefined;
  /**
   * The definitions of the jobs, with which forms have a field for each argument and check them. Without the definition of a
   * job, its arguments are edited as JSON, and checked by the server that runs it.
   */
  readonly definitions?: readonly JobDefinition[] | undefined;
  /** Called after each completed action, for example to log it. */
  readonly onAction?: ((record: ActionRecord) => void) | undefined;
  /** Called on each sign-in, sign-out, wrong password and denied access. */
  readonly onAccess?: OnAccess | undefined;
  /**
   * The path at which this application serves the dashboard, without any prefix that a gateway strips. Defaults to
   * `/job-dashboard`.
   */
  readonly path?: string | undefined;
  /**
   * The URL at which browsers reach the dashboard, such as `https://ops.example.com/job-dashboard`. Forms that pages of its
   * origin send are accepted. Needed behind a proxy that passes on another `Host`; by default, the origin of a form must be
   * the `Host` of its request.
   */
  readonly baseUrl?: string | undefined;
  /** The name of this installation, such as `staging`, shown on every page and in page titles. */
  readonly instance?: string | undefined;
  /**
   * A password that all users share, for the sign-in page and HTTP Basic authentication. An empty string counts as
   * missing. At most one of `password`, `users`, `openId`, `proxyHeaders` and `authorize` may be given. Without any of
   * them, only direct loopback clients have access; in production, nobody has.
   */
  readonly password?: string | undefined;
  /** Users with individual passwords and roles, for the sign-in page and HTTP Basic authentication. */
  readonly users?: readonly User[] | undefined;
  /** Lets people sign in with an OpenID Connect provider. */
  readonly openId?: OpenIdOptions | undefined;
  /** Trusts the user headers of an authenticating proxy. */
  readonly proxyHeaders?: ProxyHeaderOptions | undefined;
  /** A custom function that authorizes each request. */
  readonly authorize?: Authorize | undefined;
  /**
   * The secret for deriving the key that signs sessions and forms. By default, the key is derived from the client
   * secret or the plain-text passwords. It is random if there are none, or if a password is configured as a hash. Set
   * `secret` if several processes serve the same dashboard and the default key would be random.
   */
  readonly secret?: string | undefined;
  /**
   * Whether this is production. Production gives access only through a configured authentication method, even to
   * loopback clients. By default, the `env` of the Koa application decides; Koa takes it from `NODE_ENV`.
   */
  readonly production?: boolean | undefined;
  /** Whether pausing, deleting jobs or queues, and discarding set-aside items require a reason. Defaults to `false`. */
  readonly requireReasons?: boolean | undefined;
  /**
   * Matches the keys whose values are shown as “redacted” and not searched. By default, keys that look like secrets match.
   * Only syntax that Postgres knows, too: no `\b`, `\p`, `\D`, `\S`, `\W`, look-behind and back-references.
   */
  readonly redact?: RegExp | undefined;
  /**
   * How the Tenants page identifies the tenant of a job: by `key` (its concurrency key), `tag`, a tag prefix such as
   * `tag:customer-`, or the path of an argument such as `args.storeId`. By default, there is no such page.
   */
  readonly tenant?: string | undefined;
  /**
   * Time limit for loading each region of a page, in milliseconds. A region that takes longer is left out. Defaults to
   * 2000.
   */
  readonly readTimeoutMs?: number | undefined;
  /** Maximum number of open event streams. Pages of further viewers poll instead. Defaults to 100. */
  readonly maxStreams?: number | undefined;
  /** Ends all streams and exports when aborted, so that they do not delay the shutdown of a server. */
  readonly closing?: AbortSignal | undefined;
  /** How long the viewers of this process share the result of a read, in milliseconds. Defaults to 1000. */
  readonly cacheMs?: number | undefined;
  /**
   * Returns the current time in milliseconds since 1970. Sessions, caches and the check of this machine's clock use it.
   * By default, sessions and caches use the storage's clock, and the check uses `Date.now`. The times shown always come
   * from the storage's clock.
   */
  readonly now?: (() => number) | undefined;
}

/** The options of `createDashboard` by name. */
export const dashboardOptions: OptionNames<DashboardOptions> = {
  storage: true,
  control: true,
  definitions: true,
  onAction: true,
  onAccess: true,
  path: true,
  baseUrl: true,
  instance: true,
  password: true,
  users: true,
  openId: true,
  proxyHeaders: true,
  authorize: true,
  secret: true,
  production: true,
  requireReasons: true,
  redact: true,
  tenant: true,
  readTimeoutMs: true,
  maxStreams: true,
  closing: true,
  cacheMs: true,
  now: true,
  logUrl: true,
  runbookUrl: true,
  traceUrl: true,
  logo: true,
  accent: true,
};
