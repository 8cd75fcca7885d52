import { isIP } from 'node:net';
import { shorten } from '@longshore/edge';
import { isDirectFromLoopback, isLoopbackHost, isSameOrigin } from '@longshore/jobs-dashboard/request-origin';
import { apiError, type RequestGuard } from '@longshore/resources';
import { listOf } from '@longshore/service';
import type { Context } from 'koa';
import { type AccessConfig, acceptedKinds } from './access-config.js';

/** The variables that determine which requests are rejected. */
export interface GuardConfig extends AccessConfig {
  readonly API_BASE_URL?: string;
  /** Empty if the embedded dashboard has no address of its own. */
  readonly DASHBOARD_BASE_URL?: string;
  readonly API_PATH_PREFIX: string;
}

const reading = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Rejects requests that a browser may have been tricked into sending, and remote requests while access is not
 * configured. Health checks are exempt. Their responses contain nothing sensitive, and orchestrators may use any host
 * name.
 *
 * - 42101: the host name is not one of this service's, as in DNS rebinding. Checked if the API requires no credentials,
 *   or if `HTTP_ALLOWED_HOSTS` is set. `/metrics` can also be requested by IP address.
 * - 40301: the request does not come directly from this machine, and access is not configured.
 * - 40302: the request would make a change and comes from a page of another site (cross-site request forgery).
 *   `API_CORS_ORIGINS` lists exceptions.
 */
export function requestGuard(config: GuardConfig): RequestGuard {
  const { API_AUTH, API_BASE_URL, API_PATH_PREFIX, HTTP_ALLOWED_HOSTS, API_CORS_ORIGINS } = config;
  const { DASHBOARD_BASE_URL } = config;
  const isOpen = acceptedKinds(config).size === 0;
  const own = [API_BASE_URL, DASHBOARD_BASE_URL].flatMap((url) =>
    url !== undefined && URL.canParse(url) ? [new URL(url)] : [],
  );
  const hosts = new Set(
    [...listOf(HTTP_ALLOWED_HOSTS ?? '', 'HTTP_ALLOWED_HOSTS'), ...own.map(({ hostname }) => hostname)].map(
      (host) => host.toLowerCase(),
    ),
  );
  const checksHost = isOpen || HTTP_ALLOWED_HOSTS !== undefined;
  const isLocalOnly = isOpen && API_AUTH === undefined;
  const origins = new Set([
    ...listOf(API_CORS_ORIGINS ?? '', 'API_CORS_ORIGINS'),
    ...own.map(({ origin }) => origin),
  ]);

  const isServed = (host: string | undefined): boolean =>
    isLoopbackHost(host) || hosts.has(nameIn(host).toLowerCase());

  return (ctx) => {
    const path = withoutPrefix(ctx.path, API_PATH_PREFIX);
    if (path === '/healthz' || path === '/readyz') return;
    const { host } = ctx.req.headers;
    if (checksHost && !isServed(host) && !(path === '/metrics' && isAddress(host))) throw wrongHost(host);
    if (isLocalOnly && !isDirectFromLoopback(ctx.req)) throw notLocal;
    if (!reading.has(ctx.method) && !isSameOrigin(ctx) && !origins.has(ctx.get('Origin')))
      throw foreignSite(ctx);
  };
}

/** Returns the host name in a `Host` header, without the port; an empty string if there is no header. */
function nameIn(host = ''): string {
  return host.replace(/:\d*$/, '');
}

/** Returns whether the host is an IP address. DNS rebinding works only with host names. */
function isAddress(host: string | undefined): boolean {
  return isIP(nameIn(host).replace(/^\[(.*)\]$/, '$1')) !== 0;
}

function withoutPrefix(path: string, prefix: string): string {
  return prefix !== '' && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
}

function wrongHost(host: string | undefined): Error {
  return apiError(
    42101,
    host === undefined || host === ''
      ? 'The request has no Host header, so it is not known to be for this service'
      : `The request is for the host "${shorten(host, 200)}"; add it to HTTP_ALLOWED_HOSTS if it is a name of this service`,
  );
}

const notLocal = apiError(
  40301,
  'Access is not configured, so only clients on this machine may call, without a proxy in between: ' +
    'set API_AUTH=keys, or API_AUTH=none to let in everyone who can reach it',
);

function foreignSite(ctx: Context): Error {
  const origin = shorten(ctx.get('Origin'), 200) || 'an unknown origin';
  return apiError(
    40302,
    `The request was sent by a page of ${origin}; add that origin to API_CORS_ORIGINS to allow it`,
  );
}
