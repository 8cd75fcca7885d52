import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router, type RouterContext } from '@koa/router';
import { createApplication } from '@longshore/edge';
import { StorageUnavailableError } from '@longshore/jobs';
import {
  byJobName,
  checkOptions,
  checkStorage,
  defaultRedaction,
  type InstallationState,
  type OptionNames,
  searchableRedaction,
} from '@longshore/jobs/storage';
import Koa, { type Context, type Middleware } from 'koa';
import { flashMessageOf, serveActions } from './actions/action-routes.js';
import type { AccessRecord } from './auth/authenticator.js';
import { createAuthenticator } from './auth/create-authenticator.js';
import { SessionAuthenticator } from './auth/session-authenticator.js';
import { Cache } from './cache/cache.js';
import { ReadTooSlowError, withDeadline } from './cache/deadline.js';
import { BacklogOutlooks } from './diagnosis/backlog-outlook.js';
import { HealthWatch } from './diagnosis/health.js';
import { serveDocuments, serveExports } from './downloads/download-routes.js';
import { JobLinks, RunbookLinks } from './format/job-links.js';
import { BasePath, requireReadableAddress } from './http/address.js';
import { Assets } from './http/assets.js';
import { Problem } from './http/problem.js';
import { compress, setSecurityHeaders } from './http/response.js';
import { serveStreams } from './live/job-streams.js';
import { type DashboardOptions, dashboardOptions } from './options.js';
import { servePages, showAgain, unrouted } from './pages/routes.js';
import { tenantOf } from './pages/tenants.js';
import { BacklogSamples } from './reading/backlog-samples.js';
import { cachedReader } from './reading/cached-reader.js';
import type { DashboardReader } from './reading/dashboard-reader.js';
import { Layout, serveDisplay } from './shell/layout.js';
import { PageResponder, REGION_HEADER } from './shell/page-answer.js';
import { sendProblem } from './shell/problem-answer.js';
import { findRequestContext, setRequestContext } from './shell/request-context.js';
import { refuse, serveSignIn } from './shell/sign-in.js';

/**
 * Creates the dashboard as a Koa middleware. It answers all requests under its path and passes on the rest. Unexpected
 * errors are emitted as `error` events of the application, with the incident id that the error page shows.
 *
 * ```ts
 * app.use(createDashboard({ storage, path: '/ops/jobs', authorize: (ctx) => ctx.state.user ?? null }));
 * ```
 *
 * Behind a proxy, set `app.proxy` and `app.maxIpsCount` (the number of proxies), so that session cookies are marked secure
 * and the clients’ real addresses are used. Without `maxIpsCount`, clients can claim any address.
 *
 * @throws {TypeError} if options contradict each other, or an option is unknown or invalid
 */
export function createDashboard(options: DashboardOptions): Middleware {
  checkOptions('createDashboard', options, dashboardOptions);
  checkStorage('createDashboard', options.storage, ['jobs', 'queues', 'servers', 'clock']);
  const { control, onAction = () => undefined, onAccess = () => undefined } = options;
  const storageNow = (): number => options.storage.clock.now();
  const { now = storageNow, now: machineNow = Date.now } = options;
  const basePath = new BasePath(options.path ?? '/job-dashboard');
  const authenticator = createAuthenticator(options, now, onAccess);
  const assets = new Assets(options);
  const { instance, redact = defaultRedaction, readTimeoutMs = 2_000, requireReasons = false } = options;
  const tenant = options.tenant ? tenantOf(options.tenant, redact) : null;
  const layout = new Layout(basePath, assets, storageNow, { instance, hasTenants: tenant !== null });
  const cache = new Cache(options.cacheMs ?? 1_000, now);
  const samples = new BacklogSamples(storageNow);
  const reader = cachedReader(options.storage, cache, samples);
  searchableRedaction(redact); // throws if searches could not follow the pattern
  const links = new JobLinks(options);
  const runbook = new RunbookLinks(options);
  const backlogs = new BacklogOutlooks(samples, storageNow);
  const definitions = byJobName(options.definitions ?? []);
  const context = {
    reader,
    definitions,
    tenant,
    cache,
    backlogs,
    now: storageNow,
    machineNow,
    redact,
    readTimeoutMs,
    links,
    runbook,
  };
  const health = new HealthWatch(context, options.storage.incidents);
  const { storage, closing, maxStreams = 100 } = options;

  /** Answers clients that have not signed in yet. */
  const beforeSignIn = new Router({ prefix: basePath.path });
  if (authenticator instanceof SessionAuthenticator) serveSignIn(beforeSignIn, authenticator, layout);
  const router = new Router({ prefix: basePath.path });
  const responder = new PageResponder(layout, cache, readTimeoutMs);
  servePages(router, context, responder);
  serveDocuments(router, context);
  serveExports(router, { reader: storage, now: storageNow, redact, closing });
  serveDisplay(router, (ctx) => layout.links(ctx), authenticator.origin);
  serveStreams(router, context, layout, { maxStreams, closing });
  if (control !== undefined)
    serveActions(router, {
      control,
      authenticator,
      layout,
      clearCache: () => cache.clear(),
      now: storageNow,
      redact,
      requireReasons,
      onAction,
      jobs: storage.jobs,
      definitions,
      showAgain: (ctx, path, rejected) => showAgain(ctx, path, rejected, context, responder),
    });
  const [signIn, routes] = [beforeSignIn.routes(), router.routes()];

  const answer = async (ctx: RouterContext, inside: string): Promise<void> => {
    if (assets.serve(ctx, inside)) return;
    await signIn(ctx, () => answerViewer(ctx, inside));
  };
  const answerViewer = async (ctx: RouterContext, inside: string): Promise<void> => {
    const viewer = await authenticator.identify(ctx);
    if (viewer === null) return refuse(ctx, authenticator, layout, inside);
    const { latest } = health;
    const isWholePage = ctx.get(REGION_HEADER) === '';
    setRequestContext(ctx, authenticator, viewer, {
      readOnly: control === undefined,
      requireReasons,
      health: latest,
      installation: isWholePage ? await installationIn(reader, readTimeoutMs) : null,
      flash: flashMessageOf(ctx, authenticator, viewer),
    });
    if (latest !== null && !isWholePage) ctx.set('Longshore-Health', `${latest.tone} ${latest.text}`);
    await routes(ctx, () => {
      throw unrouted(ctx);
    });
  };

  return async (ctx, next) => {
    const inside = basePath.inside(ctx.path);
    if (inside === null) {
      await next();
      return;
    }
    setSecurityHeaders(ctx);
    try {
      requireReadableAddress(ctx);
      await answer(ctx as RouterContext, inside);
      await compress(ctx);
    } catch (error) {
      if (error instanceof Problem && error.content.status === 403) onAccess(refusalOf(ctx, error));
      sendProblem(ctx, layout, error, inside);
    }
  };
}

/** Returns the state of the installation; `null` if it cannot be read in time, because the page says so anyway. */
async function installationIn(
  { installation }: DashboardReader,
  timeoutMs: number,
): Promise<InstallationState | null> {
  try {
    return await withDeadline(installation.read(), timeoutMs);
  } catch (error) {
    if (error instanceof StorageUnavailableError || error instanceof ReadTooSlowError) return null;
    throw error;
  }
}

function refusalOf(ctx: Context, { content }: Problem): AccessRecord {
  const { ip: address, method, path } = ctx;
  const viewer = findRequestContext(ctx)?.viewer ?? null;
  return { event: 'refused', address, viewer, method, path, why: content.title };
}

/** The options of {@link createDashboard}, plus those of the request handler. */
export interface DashboardHandlerOptions extends DashboardOptions {
  /**
   * The number of proxies in front of the server that add the address from which they were called to `X-Forwarded-For`.
   * Defaults to 0: the headers of proxies are ignored.
   */
  readonly trustedProxies?: number;
  /** Called with unexpected errors. By default, they are written to standard error. */
  readonly onError?: (error: unknown) => void;
}

const handlerOptions: OptionNames<DashboardHandlerOptions> = {
  ...dashboardOptions,
  trustedProxies: true,
  onError: true,
};

/**
 * Answers a request below the dashboard's path. Passes any other request to `next`, or answers it with 404 if there is
 * no `next`. The framework must not have read the body or stripped a prefix from the URL of the request.
 */
export type DashboardHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * Creates the dashboard as a Node.js request handler, for `http.createServer` and for every framework that exposes
 * Node's request and response.
 *
 * ```ts
 * app.use(createDashboardHandler({ storage, control: storage, authorize })); // Express
 * ```
 *
 * @throws {TypeError} under the same conditions as {@link createDashboard}, and if `trustedProxies` is not a number of
 *   proxies
 */
export function createDashboardHandler(options: DashboardHandlerOptions): DashboardHandler {
  checkOptions('createDashboardHandler', options, handlerOptions);
  const { trustedProxies = 0, onError, ...ofDashboard } = options;
  const basePath = new BasePath(options.path ?? '/job-dashboard');
  const app = createApplication(Koa, trustedProxies);
  if (onError !== undefined) app.on('error', onError);
  app.use(createDashboard(ofDashboard));
  const answer = app.callback();
  return (request, response, next) => {
    const [path = '/'] = (request.url ?? '/').split('?');
    if (next !== undefined && basePath.inside(path) === null) next();
    else void answer(request, response);
  };
}
