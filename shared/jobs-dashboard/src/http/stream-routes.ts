import { Readable } from 'node:stream';
import { Router } from '@koa/router';
import type { Context } from 'koa';
import { logRow } from '../pages/log-row.js';
import type { PageContext } from '../pages/page.js';
import { jobStream, type JobNews } from '../reading/job-stream.js';
import { notFound } from './problem.js';
import type { Layout } from './layout.js';

const EVERY_MS = 1_000;
const LIFETIME_MS = 30_000;

/** Where in the dashboard the events of a job are. */
export const streamPath = '/jobs/:id/stream';

/** What a running job says of itself, as server-sent events whose data are pieces of its page. */
export function streamRouter(prefix: string, context: PageContext, layout: Layout): Router {
  const router = new Router({ prefix });
  router.get(streamPath, async (ctx) => {
    const id = (ctx.params['id'] ?? '').toLowerCase();
    if ((await context.reader.findJob(id)) === null)
      throw notFound('There is no such job', 'It is not kept any more.');
    ctx.status = 200;
    ctx.set({ 'X-Accel-Buffering': 'no', 'Content-Type': 'text/event-stream' });
    if (ctx.method === 'HEAD') return;
    const closed = new AbortController();
    const news = jobStream(id, placeIn(ctx), context.reader, {
      everyMs: EVERY_MS,
      lifetimeMs: LIFETIME_MS,
      signal: closed.signal,
    });
    const render = (view: string, own: object): string => layout.render(ctx, view, own);
    sendWhileOpen(ctx, Readable.from(told(news, render, context.redact)), closed);
  });
  return router;
}

/** Not as Koa sends a body: that somebody goes away in the middle is how this ends, and no error. */
function sendWhileOpen(ctx: Context, events: Readable, closed: AbortController): void {
  ctx.respond = false;
  ctx.flushHeaders();
  ctx.res.once('close', () => closed.abort());
  events.once('error', (error) => {
    ctx.app.emit('error', error, ctx);
    ctx.res.destroy();
  });
  events.pipe(ctx.res);
}

async function* told(
  news: AsyncGenerator<JobNews>,
  render: (view: string, own: object) => string,
  redact: RegExp,
): AsyncGenerator<string> {
  yield 'retry: 1000\n\n';
  for await (const each of news) {
    if (each.kind === 'end') yield event('end', '');
    else if (each.kind === 'progress')
      yield event('progress', render('job-progress', { progress: each.progress }));
    else {
      const lines = each.lines.map((line) => logRow(line, redact));
      yield event('log', render('log-lines', { lines }), each.lastId);
    }
  }
}

/** The data is JSON, which has no line breaks. */
function event(name: string, html: string, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(html)}\n\n`;
}

/** The line that the viewer has got last: from the browser, after its connection was cut, or from the page. */
function placeIn(ctx: Context): string | null {
  const place = ctx.get('Last-Event-ID') || (new URLSearchParams(ctx.querystring).get('after') ?? '');
  return /^[\w.:-]{1,80}$/.test(place) ? place : null;
}
