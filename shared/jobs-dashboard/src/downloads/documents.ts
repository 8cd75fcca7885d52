import type { Router } from '@koa/router';
import { parseExactly, redact } from '@longshore/jobs/storage';
import { jsonText } from '../format/json-tokens.js';
import { pathParameters } from '../http/address.js';
import { notFound } from '../http/problem.js';
import type { PageContext } from '../pages/page.js';
import { attach } from './attachment.js';

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
