import type { Page } from 'playwright-core';
import type { Story } from '../test/story.js';

/** A page, or a state of a page, to take screenshots of. */
export interface Scene {
  /** Beginning of the file names. A hyphen and the variant's name follow, as in `jobs-light`. */
  readonly name: string;
  /** The path of the page inside the dashboard. */
  readonly path: string;
  /** The dashboard to visit. Defaults to `open`, which shows the {@link Story}. */
  readonly site?: 'locked' | 'paused' | 'empty' | 'branded';
  /** Interacts with the page before the screenshot is taken. */
  readonly act?: (page: Page) => Promise<void>;
}

/** Returns a scene for every page, and scenes for further states of some pages. */
export function scenesOf(story: Story): Scene[] {
  return [
    { name: 'overview', path: '' },
    { name: 'overview-empty', path: '', site: 'empty' },
    { name: 'overview-compact', path: '', act: compact },
    { name: 'overview-branded', path: '', site: 'branded' },
    { name: 'overview-warnings', path: '', site: 'paused' },
    { name: 'overview-lost', path: '', act: loseConnection },
    { name: 'jobs', path: 'jobs' },
    { name: 'jobs-found', path: 'jobs?words=ada&state=failed' },
    { name: 'jobs-compact', path: 'jobs', act: compact },
    { name: 'jobs-saved', path: 'jobs?words=ada&state=failed', site: 'paused' },
    { name: 'jobs-breakdown', path: 'jobs?state=failed&by=name' },
    { name: 'jobs-selected', path: 'jobs?words=ada&state=failed', act: selectRows },
    { name: 'job-done', path: `jobs/${story.doneId}` },
    { name: 'job-retried', path: `jobs/${story.retriedId}` },
    { name: 'job-failed', path: `jobs/${story.failedId}` },
    { name: 'job-processing', path: `jobs/${story.processingId}` },
    { name: 'job-unserved', path: `jobs/${story.unservedId}` },
    { name: 'job-awaiting', path: `jobs/${story.awaitingId}` },
    { name: 'queues', path: 'queues' },
    { name: 'queue', path: 'queues/orders' },
    { name: 'queue-paused', path: 'queues/images', site: 'paused' },
    { name: 'queue-picking', path: 'queues/orders?range=6h&from=2026-03-02T12:00Z' },
    { name: 'types', path: 'types' },
    { name: 'queue-picked', path: 'queues/orders?from=2026-03-02T12:00Z&until=2026-03-02T13:30Z' },
    { name: 'queue-week', path: 'queues/orders?range=7d&before=week' },
    { name: 'type', path: 'types/send-receipt?range=24h&before=day' },
    { name: 'recurring', path: 'recurring' },
    { name: 'recurring-job', path: `recurring/${story.recurringId}` },
    { name: 'batches', path: 'batches' },
    { name: 'batch', path: `batches/${story.batchId}` },
    { name: 'bulk', path: `bulk/${story.operationId}` },
    { name: 'bulk-confirm', path: 'bulk/confirm?action=retry&state=failed' },
    {
      name: 'bulk-dialog',
      path: 'jobs?words=ada&state=failed',
      act: (page) => askInDialog(page, /^Retry all/),
    },
    {
      name: 'bulk-dialog-cancel',
      path: 'jobs?state=scheduled',
      act: (page) => askInDialog(page, /^Cancel all/),
    },
    { name: 'set-aside', path: 'set-aside', site: 'paused' },
    { name: 'audit', path: 'audit' },
    { name: 'logs', path: 'logs' },
    { name: 'errors', path: 'errors' },
    { name: 'incidents', path: 'incidents' },
    { name: 'incident', path: `incidents/${story.incidentId}` },
    { name: 'change', path: `jobs/${story.failedId}/change` },
    { name: 'new-job', path: 'new-job' },
    { name: 'tenants', path: 'tenants', site: 'branded' },
    { name: 'servers', path: 'servers' },
    { name: 'server', path: `servers/${story.serverId}` },
    { name: 'help', path: 'help' },
    { name: 'not-found', path: 'jobs/none' },
    { name: 'sign-in', path: '', site: 'locked' },
  ];
}

async function compact(page: Page): Promise<void> {
  const { width = 0, height = 0 } = page.viewportSize() ?? {};
  await page.setViewportSize({ width: 1_280, height });
  await page.getByRole('button', { name: 'Compact' }).click();
  await page.setViewportSize({ width, height });
}

async function selectRows(page: Page): Promise<void> {
  const boxes = page.locator('input[name=id]');
  for (const row of [1, 2, 4]) await boxes.nth(row).check();
  await page.getByText('Paused while rows are selected').waitFor({ state: 'attached' });
}

async function askInDialog(page: Page, name: RegExp): Promise<void> {
  await page.getByRole('link', { name }).click();
  await page.getByRole('dialog').waitFor();
}

/** Takes the page offline and lets its clock run for twelve seconds, so that it shows the lost connection. */
async function loseConnection(page: Page): Promise<void> {
  await page.clock.install();
  await page.reload();
  await page.context().setOffline(true);
  await page.clock.runFor(4_000);
  await page.locator('.live.lost').waitFor();
  await page.clock.runFor(8_000);
}
