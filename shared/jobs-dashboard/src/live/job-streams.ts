import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { Router } from '@koa/router';
import type { Job } from '@longshore/jobs';
import { isFinished, type LogLine } from '@longshore/jobs/storage';
import type { Context } from 'koa';
import { pathParameters } from '../http/address.js';
import { notFound, Problem } from '../http/problem.js';
import { logRow } from '../pages/job-log.js';
import type { DashboardReader } from '../reading/dashboard-reader.js';
import type { Layout } from '../shell/layout.js';
import type { PageContext } from '../shell/page.js';

const EVERY_MS = 1_000;
const LIFETIME_MS = 30_000;

/** The path of a job’s event stream inside the dashboard. */
export const streamPath = '/jobs/:id/stream';

interface StreamBounds {
  /** Maximum number of open streams. Further requests are answered with 503. */
  readonly maxStreams: number;
  /** Ends all streams when aborted. */
  readonly closing: AbortSignal | undefined;
}

/**
 * Serves the event streams of running jobs. The streams carry the log and the progress as server-sent
 * events with HTML for the job page.
 */
export function serveStreams(
  router: Router,
  context: PageContext,
  layout: Layout,
  { maxStreams, closing }: StreamBounds,
): void {
  let open = 0;
  router.get(streamPath, async (ctx) => {
    const id = pathParameters(streamPath, ctx.params)['id'] ?? '';
    const job = await context.reader.jobs.find(id);
    if (job === null) throw notFound('There is no such job', 'It has been removed.');
    if (job.state !== 'processing' && !isFinished(job.state)) {
      ctx.status = 204; // nothing to stream now; the page will retry
      return;
    }
    if (open >= maxStreams || closing?.aborted === true) throw tooMany;
    ctx.status = 200;
    ctx.set({ 'X-Accel-Buffering': 'no', 'Content-Type': 'text/event-stream' });
    if (ctx.method === 'HEAD') return;
    const closed = new AbortController();
    const { signal } = closed;
    closing?.addEventListener('abort', () => closed.abort(), { signal });
    open += 1;
    signal.addEventListener('abort', () => (open -= 1));
    const jobEvents = jobStream(id, lastLineId(ctx), context.reader, {
      everyMs: EVERY_MS,
      lifetimeMs: LIFETIME_MS,
      signal,
    });
    const render = (view: string, locals: object): string => layout.render(ctx, view, locals);
    sendWhileOpen(ctx, Readable.from(eventsOf(jobEvents, render, context.redact)), closed);
  });
}

const tooMany = new Problem({
  status: 503,
  title: 'Too many live viewers',
  text: 'The page falls back to polling.',
  headers: { 'Retry-After': '10' },
});

/** Sends events until the connection closes. Bypasses Koa, because Koa would report a closed connection as an error. */
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

async function* eventsOf(
  jobEvents: AsyncGenerator<JobEvent>,
  render: (view: string, locals: object) => string,
  redact: RegExp,
): AsyncGenerator<string> {
  yield 'retry: 1000\n\n';
  let attempt: number | undefined;
  for await (const jobEvent of jobEvents) {
    if (jobEvent.kind === 'end') yield event('end', '');
    else if (jobEvent.kind === 'progress')
      yield event('progress', render('job-progress', { progress: jobEvent.progress }));
    else {
      const lines = jobEvent.lines.map((line) => logRow(line, redact));
      yield event(
        'log',
        render('log-lines', { lines, after: attempt ?? lines[0]?.attempt }),
        jobEvent.lastId,
      );
      attempt = lines.at(-1)?.attempt;
    }
  }
}

/** Formats a server-sent event. The HTML is encoded as JSON, so that it contains no line breaks. */
function event(name: string, html: string, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(html)}\n\n`;
}

/**
 * Returns the id of the last log line that the viewer has; `null` if there is none or it is invalid. A page sends the
 * id as `after` when it connects. The browser sends it as `Last-Event-ID` when it reconnects.
 */
function lastLineId(ctx: Context): string | null {
  const lineId = ctx.get('Last-Event-ID') || (new URLSearchParams(ctx.querystring).get('after') ?? '');
  return /^[\w.:-]{1,80}$/.test(lineId) ? lineId : null;
}

type JobEvent =
  | { readonly kind: 'log'; readonly lines: readonly LogLine[]; readonly lastId: string }
  | { readonly kind: 'progress'; readonly progress: NonNullable<Job['progress']> }
  /** The job has finished or has been removed. */
  | { readonly kind: 'end' };

interface JobStreamOptions {
  readonly everyMs: number;
  /**
   * Approximate time, in milliseconds, after which the stream ends without an `end` event. The browser then reconnects
   * and is authenticated again.
   */
  readonly lifetimeMs: number;
  /** Ends the stream when aborted. */
  readonly signal: AbortSignal;
}

const LINES = 200;

/**
 * Polls a job, and yields its progress and new log lines.
 *
 * @param after the id of the last log line to skip; `null` to start at the first line
 */
async function* jobStream(
  id: string,
  after: string | null,
  reader: DashboardReader,
  { everyMs, lifetimeMs, signal }: JobStreamOptions,
): AsyncGenerator<JobEvent> {
  let lastId = after;
  let sent = '';
  for (let leftMs = lifetimeMs; leftMs > 0; leftMs -= everyMs) {
    // Reads the job first, so that the log read afterwards is complete if the job has finished.
    const job = await reader.jobs.find(id);
    const lines = await reader.reports.listLogs(id, {
      limit: LINES,
      ...(lastId === null ? {} : { after: lastId }),
    });
    lastId = lines.at(-1)?.id ?? lastId;
    if (lines.length > 0 && lastId !== null) yield { kind: 'log', lines, lastId };
    const progress = job?.progress ?? null;
    if (progress !== null && JSON.stringify(progress) !== sent) {
      sent = JSON.stringify(progress);
      yield { kind: 'progress', progress };
    }
    const caughtUp = lines.length < LINES;
    if (caughtUp && (job === null || isFinished(job.state))) {
      yield { kind: 'end' };
      return;
    }
    if (caughtUp && job?.state !== 'processing') return;
    if (caughtUp) await pause(everyMs, signal);
    if (signal.aborted) return;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
