import { pipeline, Readable } from 'node:stream';
import type { Router } from '@koa/router';
import { parseExactly, redact } from '@longshore/jobs/storage';
import pLimit, { type LimitFunction } from 'p-limit';
import { jsonText } from '../format/json-tokens.js';
import { pathParameters } from '../http/address.js';
import { notFound, Problem } from '../http/problem.js';
import type { PageContext } from '../shell/page.js';
import { attach, type DownloadFormat, exportFormats, exportList } from './export.js';
import type { ExportSource } from './exported-list.js';
import { exportedLists } from './exported-lists.js';

/** The path of an exported list inside the dashboard, such as `/export/jobs.csv`. */
export const exportPath = '/export/:file';

/**
 * Maximum number of exports that run at the same time, and maximum number of exports that wait for one of them to end.
 */
const MAX_EXPORTS = 2;
const MAX_WAITING = 20;
const MAX_ROWS = 100_000;
const MAX_MS = 120_000;

/** Time limit for a download, in milliseconds. A client that reads too slowly is disconnected. */
const LIFETIME_MS = 15 * 60_000;

interface ExportContext extends Omit<ExportSource, 'nowMs'> {
  readonly now: () => number;
  readonly closing: AbortSignal | undefined;
}

/** Serves exported lists. The rows are streamed as they are read. */
export function serveExports(router: Router, { closing, now, ...context }: ExportContext): void {
  const slots = pLimit(MAX_EXPORTS);
  router.get(exportPath, async (ctx) => {
    const { name, format, list } = fileOf(ctx.params['file'] ?? '');
    const nowMs = now();
    const query = new URLSearchParams(ctx.querystring);
    if (slots.pendingCount >= MAX_WAITING || closing?.aborted === true) throw tooMany;
    const release = await slotOf(slots);
    try {
      const pages = list.read(query, { ...context, nowMs });
      // Reads the first page before the response begins, because an error page can still be sent at that point.
      const first = await pages.next();
      ctx.status = 200;
      attach(
        ctx,
        `${name}-${new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '')}.${format}`,
        format,
      );
      const onError = (error: unknown): void => void ctx.app.emit('error', error, ctx);
      const bounds = { maxRows: MAX_ROWS, maxMs: MAX_MS, closing, onError };
      const body = Readable.from(exportList(first, pages, exportFormats[format](list.columns), bounds), {
        highWaterMark: 1,
      });
      // Bypasses Koa, because it would report a closed connection as an error.
      ctx.respond = false;
      ctx.flushHeaders();
      const timer = setTimeout(() => body.destroy(), LIFETIME_MS);
      pipeline(ctx.method === 'HEAD' ? Readable.from([]) : body, ctx.res, () => {
        clearTimeout(timer);
        release();
      });
    } catch (error) {
      release();
      throw error;
    }
  });
}

/** Waits for a free slot. Returns the function that releases it. */
function slotOf(slots: LimitFunction): Promise<() => void> {
  return new Promise((resolve) => {
    void slots(() => new Promise<void>((release) => resolve(release)));
  });
}

/** @throws {Problem} if there is no such list or format */
function fileOf(file: string): {
  name: string;
  format: DownloadFormat;
  list: (typeof exportedLists)[string];
} {
  const [, name = '', format] = /^([a-z]+)\.(csv|json)$/.exec(file) ?? [];
  const list = Object.hasOwn(exportedLists, name) ? exportedLists[name] : undefined;
  if (list === undefined || format === undefined) {
    const names = Object.keys(exportedLists).join(', ');
    throw notFound('There is no such export', `The lists are ${names}, as .csv or .json.`);
  }
  return { name, format: format as DownloadFormat, list };
}

const tooMany = new Problem({
  status: 503,
  title: 'Too many exports',
  text: `${MAX_EXPORTS} exports are running, and ${MAX_WAITING} are waiting. Try again in a minute.`,
  headers: { 'Retry-After': '60' },
});

type DocumentReader = (key: string, context: PageContext) => Promise<string | null>;

/**
 * Functions that read complete documents, by path inside the dashboard. Pages can show only part of a large document.
 * Each function returns the document as JSON, or `null` if there is no such document.
 */
export const documents: Readonly<Record<string, DocumentReader>> = {
  '/jobs/:id/args.json': async (id, { reader }) => (await reader.jobs.findDocuments(id))?.args ?? null,
  '/jobs/:id/result.json': async (id, { reader }) => (await reader.jobs.findDocuments(id))?.result ?? null,
  '/recurring/:recurring/args.json': (id, { reader }) => reader.recurring.findArgs(id),
};

/** Serves downloads of complete documents. Values are redacted in the same way as on pages. */
export function serveDocuments(router: Router, context: PageContext): void {
  for (const [path, read] of Object.entries(documents)) {
    router.get(path, async (ctx) => {
      const [key = ''] = Object.values(pathParameters(path, ctx.params));
      const text = await read(key, context);
      if (text === null) throw notFound('There is no such document', 'Its job has been removed.');
      attach(ctx, `${key.replaceAll(/[^\w.-]+/g, '-')}-${path.replace(/^.*\//, '')}`, 'json');
      ctx.body = `${jsonText(redact(parseExactly(text), context.redact))}\n`;
    });
  }
}
