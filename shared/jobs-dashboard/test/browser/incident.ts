import type { JsonValue } from '@longshore/jobs';
import type { Outcome, ServerDescription } from '@longshore/jobs/storage';
import { ManualClock, patientStorage, serve } from '@longshore/test-support';
import Koa from 'koa';
import type { Page } from 'playwright-core';
import { createDashboard } from '../../src/index.js';
import { listenerOf } from '../dashboard-site.js';
import { SEED_TIMEOUT_MS, SeededStorage } from '../seeded-storage.js';

const MINUTE = 60_000;

/** A storage with a dashboard. A test simulates an incident in the storage, and then opens the dashboard. */
export class Incident {
  readonly clock = new ManualClock(new Date('2026-03-01T02:00:00Z'));
  readonly storage = new SeededStorage(this.clock);
  /** Time limit for the reads of a page, in milliseconds. Takes effect until the first page is opened. */
  readTimeoutMs: number = patientStorage.readTimeoutMs;
  #server: { readonly url: string; close(): Promise<void> } | null = null;

  pass(minutes: number): void {
    this.clock.advance(minutes * MINUTE);
  }

  async startServer(queues: string[], description: Partial<ServerDescription> = {}): Promise<string> {
    const server = {
      host: 'worker-1',
      pid: 4127,
      queues,
      concurrency: 10,
      timeoutMs: SEED_TIMEOUT_MS,
      ...description,
    };
    return (await this.storage.servers.register(server)).id;
  }

  /** Enqueues a job, runs it at once for `ms` milliseconds, and ends it with this outcome. Returns the job's id. */
  async run(
    serverId: string,
    job: { name: string; queue: string; args?: JsonValue },
    outcome: Outcome = { kind: 'done', result: 'null' },
    ms = 50,
  ): Promise<string> {
    const id = await this.storage.add(job);
    const claimed = await this.storage.start(serverId, job.queue);
    this.clock.advance(ms);
    await this.storage.end(claimed, outcome);
    return id;
  }

  /** Opens the dashboard page at this path. The first call starts the dashboard. */
  async open(page: Page, path = ''): Promise<void> {
    this.#server ??= await this.#serve();
    await page.goto(`${this.#server.url}/job-dashboard/${path}`);
  }

  async #serve(): Promise<{ readonly url: string; close(): Promise<void> }> {
    const app = new Koa({ env: 'test' });
    const { storage } = this;
    app.use(
      createDashboard({
        storage,
        control: storage,
        now: this.clock.now,
        cacheMs: 0,
        readTimeoutMs: this.readTimeoutMs,
      }),
    );
    return serve(listenerOf(app));
  }

  async close(): Promise<void> {
    await this.#server?.close();
    await this.storage.close();
  }
}

/** Returns the text that a page shows, with all white space collapsed. */
export async function textOn(page: Page): Promise<string> {
  return (await page.locator('body').innerText()).replaceAll(/\s+/g, ' ');
}

/** Follows the first link with this text in the main part of the page. */
export async function follow(page: Page, name: string | RegExp): Promise<void> {
  await page
    .getByRole('main')
    .getByRole('link', { name, exact: typeof name === 'string' })
    .first()
    .click();
  await page.waitForLoadState();
}

export const failing = (name: string, message: string): Outcome => ({
  kind: 'failed',
  error: { name, message, stack: null },
});
