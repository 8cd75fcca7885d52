import { isIP } from 'node:net';
import { shorten } from '@longshore/edge';
import type { JobEvents } from '@longshore/jobs';
import { classifyStorageError, jobsApi } from '@longshore/jobs-api';
import { isDirectFromLoopback, isLoopbackHost, isSameOrigin } from '@longshore/jobs-dashboard/request-origin';
import { apiError, createResourceApi, type RequestGuard, tableIdempotencyStore } from '@longshore/resources';
import { isMetricsPath, listOf, type LoadedApplication, type Logger, testJob } from '@longshore/service';
import type Koa from 'koa';
import { acceptedKinds, type AccessConfig } from './access/access-config.js';
import { type Access, queueRowScopes, scopeRules } from './access/access.js';
import { apiChangelog } from './api-changelog.js';
import { type ApiConfig, baseUrlOf, rootUrlOf } from './config.js';
import { apiTables, type Storage } from './storage.js';

interface ResourceApiParts {
  readonly storage: Storage;
  readonly events: JobEvents;
  readonly application: LoadedApplication;
  readonly access: Access;
  readonly config: ApiConfig;
  readonly logger: Logger;
}

/**
 * Serves the API under `/api` and the error pages under `/errors`. If later middleware throws, or leaves an error
 * status without a body, the API sends an error payload.
 */
export function resourceApi(parts: ResourceApiParts): Koa.Middleware {
  const { events, application, access, config, logger } = parts;
  const { client } = application;
  const { kind, jobs: storage, application: database } = parts.storage;
  const definitions = application.handlers.map(({ definition }) => definition);
  const jobs = jobsApi({
    storage,
    client,
    events,
    definitions,
    acceptUnknownJobs: config.API_ACCEPT_UNKNOWN_JOBS,
    requiresReasons: config.API_REQUIRE_REASONS,
    ...(config.API_MAX_BACKLOG !== undefined && { maxBacklog: config.API_MAX_BACKLOG }),
    ...(config.API_MAX_WAITING !== undefined && { maxWaiting: config.API_MAX_WAITING }),
    quotas: {
      queues: {
        perCaller: config.API_MAX_QUEUES_PER_CALLER,
        total: config.API_MAX_QUEUES ?? Math.ceil(config.DATABASE_MAX_QUEUES / 2),
      },
      recurringJobs: {
        perCaller: config.API_MAX_RECURRING_JOBS_PER_CALLER,
        total: config.API_MAX_RECURRING_JOBS,
      },
      deployments: {
        perCaller: config.API_MAX_DEPLOYMENTS_PER_CALLER,
        total: config.API_MAX_DEPLOYMENTS,
      },
      minIntervalSeconds: config.API_MIN_RECURRING_INTERVAL_SECONDS,
    },
  });
  return createResourceApi({
    resources: [...jobs, ...access.resources, ...(application.tables?.resources ?? [])],
    ...(kind === 'postgres' && {
      idempotency: tableIdempotencyStore(database.pool, apiTables(config).idempotencyRecords),
    }),
    platform: {
      database: database.pool,
      reads: database.reads,
      jobs: (transaction) => client.boundTo(() => ({ transaction })),
    },
    ...(access.authenticate && { authenticate: access.authenticate }),
    ...(access.rateLimit && { rateLimit: access.rateLimit }),
    listenerLimits: { total: config.API_MAX_LISTENERS, perCaller: config.API_MAX_LISTENERS_PER_CALLER },
    securitySchemes: access.securitySchemes,
    scopeOf: scopeRules(new Set(jobs.map(({ name }) => name))),
    rowScopes: queueRowScopes(definitions),
    corsOrigins: listOf(config.API_CORS_ORIGINS ?? '', 'API_CORS_ORIGINS'),
    guard: requestGuard(config),
    info: {
      title: 'Longshore',
      description: introduction(application, config, access.authenticate !== undefined),
      version: '1.0.0',
      changes: apiChangelog,
      groups: [
        { title: 'Background jobs', resources: jobs.map(({ name }) => name) },
        { title: 'Access', resources: access.resources.map(({ name }) => name) },
        { title: application.name, resources: (application.tables?.resources ?? []).map(({ name }) => name) },
      ],
    },
    baseUrl: baseUrlOf(config),
    prefix: config.API_PATH_PREFIX,
    bodyLimitBytes: config.API_BODY_LIMIT_BYTES,
    classifyError: classifyStorageError,
    errorStack: config.API_ERROR_STACK ?? (config.NODE_ENV === 'production' ? 'trusted' : 'always'),
    log: {
      incident: ({ error, ...incident }) => logger.error({ err: error, ...incident }, 'unexpected error'),
    },
  });
}

/** Returns the introduction of the API reference, in Markdown. */
function introduction({ name, hasTestJob }: LoadedApplication, config: ApiConfig, needsKey: boolean): string {
  const key = needsKey ? ' -H "Authorization: Bearer $KEY"' : '';
  const about = `Longshore runs background jobs on Postgres. This API enqueues jobs, shows their states and results, and manages queues, servers, recurring jobs and batches. It also serves the resources of the application \`${name}\`.`;
  if (!hasTestJob) return about;
  return `${about}

Enqueue a first job; the response arrives once the job is durable:

\`\`\`sh
curl ${rootUrlOf(config)}/api/v1/jobs${key} \\
  --json '{ "name": "${testJob.name}", "args": { "waitMs": 10 } }'
\`\`\``;
}

/** The variables that determine which requests are rejected. */
interface GuardConfig extends AccessConfig {
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
 *   or if `HTTP_ALLOWED_HOSTS` is set. Metrics can also be requested by IP address.
 * - 40301: the request does not come directly from this machine, and access is not configured.
 * - 40302: the request would make a change and comes from a page of another site (cross-site request forgery).
 *   `API_CORS_ORIGINS` lists exceptions.
 */
function requestGuard(config: GuardConfig): RequestGuard {
  const { API_AUTH, API_BASE_URL, API_PATH_PREFIX, HTTP_ALLOWED_HOSTS, API_CORS_ORIGINS } = config;
  const { DASHBOARD_BASE_URL } = config;
  const isOpen = acceptedKinds(config).size === 0;
  const ownHosts = [API_BASE_URL, DASHBOARD_BASE_URL].flatMap((url) =>
    url !== undefined && URL.canParse(url) ? [new URL(url)] : [],
  );
  const hosts = new Set(
    [
      ...listOf(HTTP_ALLOWED_HOSTS ?? '', 'HTTP_ALLOWED_HOSTS'),
      ...ownHosts.map(({ hostname }) => hostname),
    ].map((host) => host.toLowerCase()),
  );
  const checksHost = isOpen || HTTP_ALLOWED_HOSTS !== undefined;
  const isLocalOnly = isOpen && API_AUTH === undefined;
  const origins = new Set([
    ...listOf(API_CORS_ORIGINS ?? '', 'API_CORS_ORIGINS'),
    ...ownHosts.map(({ origin }) => origin),
  ]);

  const isServed = (host: string | undefined): boolean =>
    isLoopbackHost(host) || hosts.has(nameIn(host).toLowerCase());

  return (ctx) => {
    const path = withoutPrefix(ctx.path, API_PATH_PREFIX);
    if (path === '/healthz' || path === '/readyz') return;
    const { host } = ctx.req.headers;
    if (checksHost && !isServed(host) && !(isMetricsPath(path) && isAddress(host))) throw wrongHost(host);
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

function foreignSite(ctx: Koa.Context): Error {
  const origin = shorten(ctx.get('Origin'), 200) || 'an unknown origin';
  return apiError(
    40302,
    `The request was sent by a page of ${origin}; add that origin to API_CORS_ORIGINS to allow it`,
  );
}
