import type { OnAccess } from './auth/access-record.js';
import type { Authorize } from './auth/viewer.js';
import type { ActionRecord } from './actions/audited-action.js';
import type { DashboardControl } from './actions/control.js';
import type { DashboardReader } from './reading/dashboard-reader.js';

export interface DashboardOptions {
  /** Where the pages read from. Only its read contract is used. */
  readonly storage: DashboardReader;
  /** Lets operators act; the storage itself, as a rule. Without it the dashboard only shows. */
  readonly control?: DashboardControl | undefined;
  /** Called after each action, for the application’s records. */
  readonly onAction?: ((record: ActionRecord) => void) | undefined;
  /** Called when somebody signs in or out, sends a wrong password, or is refused. */
  readonly onAccess?: OnAccess | undefined;
  /** Where the dashboard is mounted, as this application sees it. Default `/job-dashboard`. */
  readonly path?: string | undefined;
  /** Which of several installations this is, `staging` for example: on every page, and in the titles. */
  readonly instance?: string | undefined;
  /** Decides about every request, in place of a password. */
  readonly authorize?: Authorize | undefined;
  /**
   * Lets in whoever knows it, by a sign-in page or HTTP Basic authentication. Empty counts as not given. Without it and
   * without `authorize`, only direct loopback clients get in, and nobody in production.
   */
  readonly password?: string | undefined;
  /** What forms are signed with where there is no password. Needed only if several processes serve one dashboard. */
  readonly secret?: string | undefined;
  /** Default: whether the Koa application’s `env` is `production`, which it takes from `NODE_ENV`. */
  readonly production?: boolean | undefined;
  /** Values under keys that match are shown as “redacted”, in arguments and results. Default: keys that look like secrets. */
  readonly redact?: RegExp | undefined;
  /** How long a part of a page may take, in milliseconds, before the page is sent without it. Default 2000. */
  readonly readTimeoutMs?: number | undefined;
  /** How many viewers at once may follow running jobs by a stream; the pages of the others ask now and then. Default 100. */
  readonly maxStreams?: number | undefined;
  /** Ends all streams, which would hold up a server that closes. */
  readonly closing?: AbortSignal | undefined;
  /** How long the result of a read is shared by all viewers of this process, in milliseconds. Default 1000. */
  readonly cacheMs?: number | undefined;
  /** Milliseconds since 1970, for sessions and caches. Default: the storage’s clock, by which all times are shown. */
  readonly now?: (() => number) | undefined;
}
