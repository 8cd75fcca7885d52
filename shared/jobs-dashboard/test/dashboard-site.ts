import type { RequestListener } from 'node:http';
import type { OperableStorage } from '@longshore/jobs/operations';
import { httpClient, type HttpClient, patientStorage, serve } from '@longshore/test-support';
import Koa from 'koa';
import { createDashboard, type DashboardOptions } from '../src/index.js';
import { seedStory, type Story } from './story.js';

export interface Site {
  readonly story: Story;
  readonly http: HttpClient;
  readonly url: string;
  readonly errors: Error[];
  close(): Promise<void>;
}

export interface SiteOptions extends Omit<DashboardOptions, 'storage' | 'control'> {
  readonly env?: string;
  /** Whether the Koa application trusts the headers of a proxy. */
  readonly proxy?: boolean;
  /** Returns the reader for the dashboard. Defaults to the story's storage. */
  readonly read?: (story: Story) => DashboardOptions['storage'];
  readonly control?: (story: Story) => OperableStorage;
}

/**
 * Serves the dashboard under `/job-dashboard` in a Koa application. The application answers all other paths with
 * “elsewhere”. By default, nothing is cached, and reads may take an hour.
 */
export async function openSite({
  env = 'test',
  proxy = false,
  read,
  control,
  ...options
}: SiteOptions = {}): Promise<Site> {
  const story = await seedStory();
  const { storage } = story;
  const app = new Koa({ env, proxy });
  const errors: Error[] = [];
  app.on('error', (error: Error) => errors.push(error));
  app.use(
    createDashboard({
      storage: read?.(story) ?? storage,
      control: control?.(story),
      now: storage.manualClock.now,
      cacheMs: 0,
      tenant: 'tag',
      readTimeoutMs: patientStorage.readTimeoutMs,
      ...options,
    }),
  );
  app.use((ctx) => {
    ctx.body = 'elsewhere';
  });
  const server = await serve(listenerOf(app));
  const close = async (): Promise<void> => {
    await server.close();
    await storage.close();
  };
  return { story, http: httpClient(server.url), url: server.url, errors, close };
}

/** Returns the entity tag of a region in a page or fragment. Defaults to the first region. */
export function etagIn(html: string, region = '[^"]+'): string {
  const [, etag = ''] = new RegExp(`data-region="${region}"[^>]* data-etag="([^"]+)"`).exec(html) ?? [];
  return etag.replaceAll('&#34;', '"');
}

export function listenerOf(app: Koa): RequestListener {
  const handle = app.callback();
  return (request, response) => void handle(request, response);
}

/** Returns paths inside the dashboard, at least one for each kind of page. */
export function pagePaths(story: Story): string[] {
  return [
    '/',
    '/jobs',
    '/jobs?state=done',
    '/jobs?queue=mail&name=send-invoice',
    '/jobs?q=tag%3A',
    '/jobs?tag=march&args.reader=3&since=2d&until=2030-01-01',
    ...[
      story.doneId,
      story.failedId,
      story.processingId,
      story.retryingId,
      story.scheduledId,
      story.awaitingId,
    ].map((id) => `/jobs/${id}`),
    '/queues',
    '/queues/images',
    '/types',
    '/types?since=24h&sort=waiting',
    '/types/send-invoice',
    '/types/send-invoice?range=30d&before=week',
    '/queues/images?from=2026-03-01T13:30Z',
    '/recurring',
    `/recurring/${story.recurringId}`,
    '/recurring/reindex-sundays',
    '/batches',
    `/batches/${story.batchId}`,
    '/audit',
    `/jobs/${story.processingId}/log`,
    '/logs',
    '/logs?state=failed&name=send-invoice',
    '/new-job',
    '/new-job?type=send-invoice',
    `/jobs/${story.failedId}/change`,
    `/jobs/${story.scheduledId}/change`,
    '/bulk',
    `/bulk/${story.operationId}`,
    `/bulk/${story.operationId}?others=state%3Dfailed`,
    '/bulk/confirm?action=retry&state=failed',
    `/bulk/confirm?action=delete&id=${story.doneId}&id=${story.failedId}`,
    '/errors',
    '/errors?since=7d',
    '/servers',
    `/servers/${story.serverId}`,
    '/rules',
    '/set-aside',
    '/tenants',
    '/incidents',
    `/incidents/${story.incidentId}`,
    '/help',
  ];
}

/** Fills in a route's parameters, with ids from the story where it has them. Returns the path. */
export function pathOf(route: string, story: Story): string {
  return route
    .replace(':id', story.doneId)
    .replace(':queue', 'mail')
    .replace(':type', 'send-invoice')
    .replace(':recurring', story.recurringId)
    .replace(':batch', story.batchId)
    .replace(':server', story.serverId)
    .replace(':file', 'jobs.csv')
    .replace(':incident', story.incidentId)
    .replace(':operation', story.operationId)
    .replace('/confirm', '/confirm?action=retry&state=failed')
    .replace(':target', 'any');
}

/** Returns the text of an HTML page without its markup, with white space collapsed. */
export function textOf(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&amp;', '&')
    .replaceAll('&#34;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ');
}
