import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Koa from 'koa';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { MemoryStorage } from '@longshore/jobs';
import { serve } from '@longshore/test-support';
import { createDashboard, type DashboardOptions } from '../src/index.js';
import { launchChromium } from '@longshore/test-support/chromium';
import { listenerOf } from '../test/dashboard-site.js';
import { seedStory, type Story } from '../test/story.js';
import { scenesOf } from './scenes.js';

/**
 * Takes screenshots of every page and writes them to `folder`, or to a new temporary folder:
 *
 *     tsx -C source screenshots/main.ts [folder] [--only name]… [--kept]
 *
 * With `--only`, takes only the screenshots with names that begin with `name`, such as `jobs-light` or `queue`. With
 * `--kept`, takes only the screenshots that are committed to the repository, and writes them to docs/images by default.
 * The story's clock is fixed to a Monday, so that screenshots of an unchanged page look alike.
 */
const nowMs = Date.parse('2026-03-02T14:05:00Z');
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true, default: [''] },
    kept: { type: 'boolean', default: false },
  },
});
const kept = ['overview-light', 'overview-dark', 'job-failed-light', 'job-failed-dark'];
const wanted = values.kept ? kept : values.only;
const folder =
  positionals[0] ??
  (values.kept
    ? join(import.meta.dirname, '../../../docs/images')
    : await mkdtemp(join(tmpdir(), 'longshore-screenshots-')));

const MAX_HEIGHT = 1_150;

const variants = [
  { name: 'light', width: 1280, colorScheme: 'light' },
  { name: 'dark', width: 1280, colorScheme: 'dark' },
  { name: 'narrow', width: 320, colorScheme: 'light' },
] as const;

/**
 * Takes a screenshot of the window. First makes the window as high as the page, up to `MAX_HEIGHT`. Elements fixed to
 * an edge of the window are therefore at an edge of the screenshot.
 */
async function takePicture(page: Page, name: string): Promise<void> {
  const { width = 0, height: least = 0 } = page.viewportSize() ?? {};
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width, height: Math.min(Math.max(whole, least), MAX_HEIGHT) });
  await sharp(await page.screenshot())
    .png({ palette: true, colours: 48, dither: 0, effort: 7 })
    .toFile(join(folder, `${name}.png`));
}

const story = await seedStory(nowMs, { busy: true });
const later = await seedStory(nowMs, { busy: true });
await later.storage.queues.pause('images');
await later.storage.savedSearches.save({
  name: 'Ada’s failures',
  query: 'words=ada&state=failed',
  savedBy: 'ann',
});
await later.storage.savedSearches.save({ name: 'Unpaid orders', query: 'name=charge-card', savedBy: 'ann' });
later.storage.setAside.add(
  { role: 'recurring', key: 'nightly-report' },
  new Error('Unknown time zone “Mars/Phobos”'),
);
later.storage.manualClock.advance(3 * 60_000);
await story.storage.deployments.record({
  version: '2.4.1',
  at: new Date(nowMs - 40 * 60_000),
  note: 'New mail server',
});
const nothing = new MemoryStorage();

const instance = 'staging';
const of = ({ storage }: Story): DashboardOptions => ({
  storage,
  control: storage,
  now: storage.manualClock.now,
});
const dashboards = {
  open: of(story),
  paused: of(later),
  empty: { storage: nothing, control: nothing },
  branded: {
    ...of(story),
    logo: join(import.meta.dirname, 'logo.svg'),
    accent: '#8a1c7c',
    tenant: 'args.customer',
  },
  locked: { storage: story.storage, password: 'secret' },
};
const sites = Object.fromEntries(
  await Promise.all(
    Object.entries(dashboards).map(async ([name, options]) => {
      const dashboard = createDashboard({ ...options, instance });
      return [name, await serve(listenerOf(new Koa().use(dashboard)))] as const;
    }),
  ),
);
const browser = await launchChromium();
await mkdir(folder, { recursive: true });
try {
  for (const { name: variant, width, colorScheme } of variants) {
    const size = { width, height: 800 };
    const options = { viewport: size, colorScheme, timezoneId: 'UTC', locale: 'en-GB' };
    const context = await browser.newContext(options);
    const page = await context.newPage();
    for (const { name, path, site = 'open', act } of scenesOf(story)) {
      if (!wanted.some((start) => `${name}-${variant}`.startsWith(start))) continue;
      const address = `${sites[site]?.url}/job-dashboard/${path}`;
      if (act === undefined) {
        await page.setViewportSize(size);
        await page.goto(address);
        await takePicture(page, `${name}-${variant}`);
        continue;
      }
      const ownContext = await browser.newContext(options);
      const touched = await ownContext.newPage();
      await touched.goto(address);
      await act(touched);
      await takePicture(touched, `${name}-${variant}`);
      await ownContext.close();
    }
    await context.close();
  }
} finally {
  await browser.close();
  await Promise.all(Object.values(sites).map((site) => site.close()));
  await Promise.all([story.storage.close(), later.storage.close(), nothing.close()]);
}
process.stdout.write(`The pictures are in ${folder}\n`);
