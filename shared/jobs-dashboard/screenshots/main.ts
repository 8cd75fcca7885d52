import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Koa from 'koa';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { serve } from '@longshore/test-support';
import { createDashboard } from '../src/index.js';
import { launchChromium } from '../test/browser/chromium.js';
import { listenerOf } from '../test/dashboard-site.js';
import { seedStory, type Story } from '../test/story.js';

/**
 * Takes pictures of every page: `tsx -C source screenshots/main.ts [folder] [--only name]…`, into docs/images by default, or of
 * those only whose name begins so: `jobs-light`, `queue`. A Monday, always the same.
 */
const nowMs = Date.parse('2026-03-02T14:05:00Z');
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', multiple: true, default: [''] } },
});
const folder = positionals[0] ?? join(import.meta.dirname, '../../../docs/images');

const MAX_HEIGHT = 1_150;

const looks = [
  { name: 'light', width: 1280, colorScheme: 'light' },
  { name: 'dark', width: 1280, colorScheme: 'dark' },
  { name: 'narrow', width: 320, colorScheme: 'light' },
] as const;

function pagesOf(story: Story): Record<string, string> {
  return {
    overview: '',
    jobs: 'jobs',
    'jobs-found': 'jobs?words=ada&state=failed',
    'job-done': `jobs/${story.doneId}`,
    'job-retried': `jobs/${story.retriedId}`,
    'job-failed': `jobs/${story.failedId}`,
    'job-processing': `jobs/${story.processingId}`,
    'job-unserved': `jobs/${story.unservedId}`,
    queues: 'queues',
    queue: 'queues/orders',
    recurring: 'recurring',
    'recurring-job': `recurring/${story.recurringId}`,
    batches: 'batches',
    batch: `batches/${story.batchId}`,
    bulk: `bulk/${story.operationId}`,
    'bulk-confirm': 'bulk/confirm?action=retry&state=failed',
    audit: 'audit',
    'job-awaiting': `jobs/${story.awaitingId}`,
    errors: 'errors',
    servers: 'servers',
    server: `servers/${story.serverId}`,
    help: 'help',
    'not-found': 'jobs/none',
  };
}

/** Few colours are enough for pages like these, and a long list need not be there to its end. */
async function takePicture(page: Page, name: string): Promise<void> {
  const picture = sharp(await page.screenshot({ fullPage: true }));
  const { width, height } = await picture.metadata();
  await picture
    .extract({ left: 0, top: 0, width, height: Math.min(height, MAX_HEIGHT) })
    .png({ palette: true, colours: 48, dither: 0, effort: 10 })
    .toFile(join(folder, `${name}.png`));
}

const story = await seedStory(nowMs, { busy: true });
const open = new Koa().use(
  createDashboard({
    storage: story.storage,
    control: story.storage,
    instance: 'staging',
    now: story.storage.manualClock.now,
  }),
);
const locked = new Koa().use(
  createDashboard({ storage: story.storage, password: 'secret', instance: 'staging' }),
);
const servers = await Promise.all([serve(listenerOf(open)), serve(listenerOf(locked))]);
const [{ url }, { url: lockedUrl }] = servers;
const browser = await launchChromium();
await mkdir(folder, { recursive: true });
try {
  for (const { name: look, width, colorScheme } of looks) {
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      colorScheme,
      timezoneId: 'UTC',
      locale: 'en-GB',
    });
    const page = await context.newPage();
    const pages = Object.entries(pagesOf(story)).map(
      ([name, path]) => [name, `${url}/job-dashboard/${path}`] as const,
    );
    for (const [name, address] of [...pages, ['sign-in', `${lockedUrl}/job-dashboard/`] as const]) {
      if (!values.only.some((start) => `${name}-${look}`.startsWith(start))) continue;
      await page.goto(address);
      await takePicture(page, `${name}-${look}`);
    }
    await context.close();
  }
} finally {
  await browser.close();
  await Promise.all(servers.map((server) => server.close()));
  await story.storage.close();
}
