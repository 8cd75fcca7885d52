import { actionOf } from '@longshore/jobs/operations';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { actions } from '../../src/actions/actions.js';
import { openSite, type Site } from '../dashboard-site.js';
import { seedBlockedKey } from '../story-keys.js';
import { seedSteps } from '../story-steps.js';
import { launchChromium } from '@longshore/test-support/chromium';

/** The page with an action's form, and the values to enter, by field name. */
interface Offer {
  readonly at: string;
  readonly fill?: Readonly<Record<string, string>>;
}

/**
 * Returns the page that offers an action. Usually, this is the page of the target. Bulk actions have a confirmation
 * page, and the list of jobs offers actions on saved searches.
 */
async function offerOf(action: string, { story }: Site, operationId: string): Promise<Offer> {
  if (action === '/jobs/:target/run-anyway') return { at: `jobs/${await skippedJob(story.storage)}` };
  if (action === '/jobs/:target/signal') return { at: `jobs/${(await seedSteps(story.storage)).waitingId}` };
  if (action === '/jobs/:target/rerun-from')
    return { at: `jobs/${(await seedSteps(story.storage)).failedId}` };
  if (action === '/enqueue') return { at: 'new-job?type=send-invoice', fill: { queue: 'mail' } };
  if (action === '/queues/:target/limit-key') {
    await seedBlockedKey(story.storage);
    return { at: 'queues/keyed', fill: { limit: '3' } };
  }
  if (action.startsWith('/incidents/')) return { at: `incidents/${await incidentOf(story.storage, action)}` };
  const [, kind = '', verb = ''] = /^\/(set-aside|[a-z]+)(?:\/:target\/|-|\/)([a-z-]+)$/.exec(action) ?? [];
  const job = ['cancel', 'run', 'reschedule', 'rename', 'edit'].includes(verb)
    ? story.scheduledId
    : story.failedId;
  const states: Readonly<Record<string, string>> = { cancel: 'enqueued', retry: 'failed', delete: 'done' };
  const values: Readonly<Record<string, Offer['fill']>> = {
    reschedule: { at: '2026-03-02T08:00' },
    rename: { toName: 'other' },
    edit: { maxAttempts: '7' },
    'edit-and-retry': { priority: '7' },
  };
  const fill = values[verb] ?? {};
  const offers: Record<string, Offer> = {
    jobs: { at: verb.startsWith('edit') ? `jobs/${job}/change` : `jobs/${job}`, fill },
    create: { at: 'queues', fill: { name: 'bills' } },
    queues: {
      at: verb === 'delete' ? 'queues/unused' : 'queues/mail',
      ...(verb === 'limit' ? { fill: { concurrency: '3' } } : {}),
    },
    recurring: { at: `recurring/${verb === 'resume' ? 'reindex-sundays' : story.recurringId}` },
    batches: { at: `batches/${story.batchId}` },
    servers: { at: `servers/${story.serverId}` },
    'set-aside': { at: 'set-aside' },
    types: { at: 'types/any' },
    installations: { at: '' },
    searches: { at: 'jobs?state=failed', ...(verb === 'save' && { fill: { name: 'failures' } }) },
    bulk:
      verb === 'stop'
        ? { at: `bulk/${operationId}` }
        : { at: `bulk/confirm?action=${verb}&state=${states[verb] ?? 'scheduled'}`, fill },
  };
  const offer = offers[kind];
  if (offer === undefined) throw new Error(`Where is ${action} offered?`);
  return offer;
}

/** Adds a job and its parent, and cancels the parent, so that the job is skipped. Returns the job's id. */
async function skippedJob(storage: Site['story']['storage']): Promise<string> {
  const parent = await storage.add({ name: 'charge-card', inMs: 60_000 });
  const after = { parents: [parent], when: 'onDone' as const };
  const order = { ...storage.order({ name: 'ship-order' }), meta: { parentIds: [parent] }, after };
  await storage.enqueuer.enqueue([order]);
  await storage.control.cancel(parent);
  return order.id;
}

/** Begins an incident, and mutes it if the action unmutes it. Returns its id. */
async function incidentOf({ incidents, clock }: Site['story']['storage'], action: string): Promise<string> {
  const subject = 'queue mail is paused';
  const text = 'Queue “mail” was paused.';
  await incidents.observe([
    {
      kind: 'queue-paused',
      key: subject,
      subject,
      text,
      advice: 'Resume it.',
      link: 'queues/mail',
      beganAt: null,
      isMeasured: false,
      isRecovering: false,
    },
  ]);
  const [incident] = await incidents.list({ isActive: true, limit: 1 });
  const id = incident?.id ?? '';
  if (action.endsWith('/unmute')) await incidents.mute(id, { until: new Date(clock.now() + 60_000) });
  return id;
}

describe('without scripts', () => {
  let browser: Browser;
  let site: Site;
  let page: Page;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());
  beforeEach(async () => {
    site = await openSite({ control: ({ storage }) => storage });
    page = await browser.newPage({ javaScriptEnabled: false });
  });
  afterEach(async () => {
    await page.close();
    await site.close();
  });

  const open = (path: string) => page.goto(`${site.url}/job-dashboard/${path}`);

  for (const { path: action, operation } of actions) {
    it(`${action} works by a form`, async () => {
      const { storage } = site.story;
      const waiting = await storage.bulk.start({ action: 'retry', filter: { state: ['failed'] } });
      if (action === '/queues/:target/resume') await storage.queues.pause('mail');
      if (action === '/installations/:target/resume') await storage.installation.pauseCopy();
      if (action === '/types/:target/resume') await storage.jobTypes.pause('any');
      if (action === '/queues/:target/delete') await storage.queues.resume('unused'); // creates the queue
      if (action === '/searches/delete')
        await storage.savedSearches.save({ name: 'failures', query: 'state=failed', savedBy: 'ann' });
      storage.setAside.attempt({ role: 'cleaner', key: 'retention' }, () => {
        throw new RangeError('poisoned');
      });
      const { at, fill = {} } = await offerOf(action, site, waiting.id);
      await open(at);
      const form = page.locator(`form[method=post][action$="/${action.split('/').at(-1)}"]`).first();
      const folded = page.locator('details', { has: form });
      if ((await folded.count()) > 0) await folded.first().locator('summary').click();
      for (const [name, value] of Object.entries(fill)) await form.locator(`[name=${name}]`).fill(value);
      await form.getByRole('button').click();
      await page.waitForURL((url) => !url.pathname.endsWith('/confirm'));
      expect(await page.getByRole('heading', { level: 1 }).count()).to.equal(1);
      const [entry] = await storage.audit.list({ limit: 1 });
      expect(entry?.action).to.equal(actionOf(operation));
    });
  }

  it('folded confirmations precede their actions', async () => {
    await open(`jobs/${site.story.scheduledId}`);
    const cancel = page.getByRole('button', { name: 'Cancel the job' });
    expect(await cancel.isVisible()).to.equal(false);
    await page.getByText('Cancel…').click();
    await cancel.click();
    await page.getByText('It was cancelled and will not run again.').waitFor();
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('It is ready').waitFor();
  });

  it('selected rows are changed after a confirmation page', async () => {
    await open('jobs?state=failed');
    await page.getByRole('checkbox').first().check();
    await page.getByRole('button', { name: 'Retry…' }).click();
    await page.getByText('1 selected job').waitFor();
    await page.getByRole('button', { name: 'Retry 1 job' }).click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal('Bulk retry');
  });

  it('ten jobs are retried before the others', async () => {
    const { storage } = site.story;
    for (let index = 0; index < 12; index += 1)
      await storage.control.cancel(await storage.add({ name: 'many', queue: 'many' }));
    await open('bulk/confirm?action=retry&state=cancelled&queue=many');
    await page.getByRole('button', { name: 'Retry 10 of them first' }).click();
    await page.waitForURL(/others=/);
    await page.getByRole('link', { name: 'Retry the others…' }).click();
    expect(await page.getByRole('button', { name: /^Retry/ }).count()).to.be.above(0);
  });

  it('lists can be read and searched', async () => {
    await open('');
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByRole('link', { name: 'Previous' }).click();
    await page.getByRole('searchbox', { name: 'Find jobs' }).fill('queue:mail');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/jobs?queue=mail');
    await page.getByRole('link', { name: 'send-receipt' }).click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal('send-receipt');
    expect(await page.getByRole('link', { name: 'Reload' }).isVisible()).to.equal(true);
  });

  it('viewers can sign in and out', async () => {
    const locked = await openSite({ password: 'secret' });
    try {
      await page.goto(`${locked.url}/job-dashboard/queues`);
      await page.getByLabel('Password').fill('secret');
      await page.getByRole('button', { name: 'Sign in' }).click();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal('Queues');
      await page.getByRole('button', { name: 'Sign out' }).click();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal('Sign in');
    } finally {
      await locked.close();
    }
  });
});
