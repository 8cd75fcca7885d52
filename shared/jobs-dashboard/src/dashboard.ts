import type { RouterContext } from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { AccessRecord } from './access/access-record.js';
import { createGate } from './access/create-gate.js';
import { PasswordGate } from './access/password-gate.js';
import { saidOf } from './actions/receipt.js';
import { defaultRedaction } from './format/redaction.js';
import { actionRouter } from './http/action-routes.js';
import { Assets } from './http/assets.js';
import { BasePath } from './http/base-path.js';
import { compress } from './http/compression.js';
import { Layout } from './http/layout.js';
import { PageAnswer, REGION_HEADER } from './http/page-answer.js';
import { Problem } from './http/problem.js';
import { sendProblem } from './http/problem-answer.js';
import { refuse } from './http/refusal.js';
import { Renderer } from './http/renderer.js';
import { pageRouter, unrouted } from './http/routes.js';
import { setSecurityHeaders } from './http/security-headers.js';
import { signInRouter } from './http/sign-in.js';
import { streamRouter } from './http/stream-routes.js';
import { keepVisit, keptVisit, visitOf } from './http/visit.js';
import type { DashboardOptions } from './options.js';
import { HealthWatch } from './reading/health.js';
import { shareReads } from './reading/shared-reads.js';
import { LastKnown } from './reading/last-known.js';
import { Snapshot } from './reading/snapshot.js';

/**
 * The dashboard as a Koa middleware: it answers everything under its path and passes on the rest. Unforeseen errors
 * are emitted as `error` events of the application, under the incident that the page names.
 *
 * ```ts
 * app.use(createDashboard({ storage, path: '/ops/jobs', authorize: (ctx) => ctx.state.user ?? null }));
 * ```
 *
 * Behind a proxy, set `app.proxy`, so that session cookies are marked secure and addresses are the clients’.
 *
 * Throws a TypeError for options that contradict one another and for a path that is none.
 */
export function createDashboard(options: DashboardOptions): Middleware {
  const {
    authorize,
    password,
    production,
    secret,
    control,
    onAction = () => undefined,
    onAccess = () => undefined,
  } = options;
  const storageNow = (): number => options.storage.clock.now();
  const { now = storageNow, now: machineNow = Date.now } = options;
  const basePath = new BasePath(options.path ?? '/job-dashboard');
  const gate = createGate({ authorize, password, production, secret, now, onAccess });
  const assets = new Assets();
  const layout = new Layout(basePath, assets, new Renderer(), storageNow, options.instance ?? '');
  const snapshot = new Snapshot(options.snapshotMs ?? 1_000, now);
  const reader = shareReads(options.storage, snapshot);
  const { redact = defaultRedaction, readTimeoutMs = 2_000 } = options;
  const lastKnown = new LastKnown(now);
  const context = { reader, lastKnown, now: storageNow, machineNow, redact, readTimeoutMs };
  const health = new HealthWatch(context);
  const pages = pageRouter(basePath.path, context, new PageAnswer(layout, snapshot, readTimeoutMs)).routes();
  const signIn = gate instanceof PasswordGate ? signInRouter(basePath.path, gate, layout).routes() : null;

  const streams = streamRouter(basePath.path, context, layout, {
    maxStreams: options.maxStreams ?? 100,
    closing: options.closing,
  }).routes();
  const acts =
    control === undefined
      ? null
      : actionRouter(basePath.path, {
          control,
          reader: options.storage,
          gate,
          layout,
          forget: () => {
            snapshot.clear();
            lastKnown.clear();
          },
          now: storageNow,
          redact,
          onAction,
        }).routes();

  const answer = async (ctx: RouterContext, inside: string): Promise<void> => {
    if (assets.serve(ctx, inside)) return;
    await signIn?.(ctx, nothing);
    if (isAnswered(ctx)) return;
    const viewer = await gate.identify(ctx);
    if (viewer === null) return refuse(ctx, gate, layout, inside);
    const { latest } = health;
    keepVisit(
      ctx,
      Object.assign(visitOf(ctx, gate, viewer, acts === null), {
        health: latest,
        said: saidOf(ctx, gate, viewer),
      }),
    );
    if (latest !== null && ctx.get(REGION_HEADER) !== '')
      ctx.set('Longshore-Health', `${latest.tone} ${latest.text}`);
    await pages(ctx, nothing);
    if (!isAnswered(ctx)) await streams(ctx, nothing);
    if (!isAnswered(ctx)) await acts?.(ctx, nothing);
    if (!isAnswered(ctx)) throw unrouted(ctx);
  };

  return async (ctx, next) => {
    const inside = basePath.inside(ctx.path);
    if (inside === null) {
      await next();
      return;
    }
    setSecurityHeaders(ctx);
    try {
      await answer(ctx as RouterContext, inside);
      await compress(ctx);
    } catch (error) {
      if (error instanceof Problem && error.told.status === 403) onAccess(refusalOf(ctx, error));
      sendProblem(ctx, layout, error, inside);
    }
  };
}

function refusalOf(ctx: Context, { told }: Problem): AccessRecord {
  const { ip: address, method, path } = ctx;
  const viewer = keptVisit(ctx)?.viewer ?? null;
  return { event: 'refused', address, viewer, method, path, why: told.title };
}

async function nothing(): Promise<void> {}

function isAnswered(ctx: Context): boolean {
  return ctx.status !== 404;
}
