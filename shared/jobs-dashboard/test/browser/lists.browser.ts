import { defineJob, JobClient } from '@longshore/jobs';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import Type from 'typebox';
import { openSite, type Site } from '../dashboard-site.js';
import { axeViolations } from './axe.js';
import { launchChromium } from '@longshore/test-support/chromium';

describe('a list in a browser', () => {
  let browser: Browser;
  let site: Site;
  let page: Page;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());
  beforeEach(async () => {
    site = await openSite({ control: ({ storage }) => storage });
    page = await browser.newPage();
    await page.goto(`${site.url}/job-dashboard/jobs?state=failed`);
  });
  afterEach(async () => {
    await page.close();
    await site.close();
  });

  const dialog = () => page.getByRole('dialog');
  const rows = () => page.locator('td.pick input');
  const selectAll = () => page.getByRole('checkbox', { name: 'Select all on this page' });

  it('can be selected and unselected as a whole, and shows how many rows are selected', async () => {
    await selectAll().check();
    expect(await rows().evaluateAll((boxes) => boxes.every((box) => box.matches(':checked')))).to.equal(true);
    expect(await page.locator('.marked').textContent()).to.equal(`${await rows().count()} selected`);
    await rows().first().uncheck();
    expect(await selectAll().evaluate((box) => box.matches(':indeterminate'))).to.equal(true);
  });

  it('shows the arguments of failed jobs besides their error, however long it is', async () => {
    const { storage } = site.story;
    const serverId = site.story.serverId;
    for (const order of [4_711, 14_711]) {
      await storage.add({ name: 'ship-order', queue: 'carriers', args: { order }, maxAttempts: 1 });
      const claimed = await storage.start(serverId, 'carriers');
      const error = { name: 'CarrierError', message: 'no such address '.repeat(20), stack: null };
      await storage.end(claimed, { kind: 'failed', error });
    }
    for (const width of [1_280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`${site.url}/job-dashboard/jobs?words=4711`);
      const argumentLines = page.locator('.given');
      expect(await argumentLines.allInnerTexts()).to.deep.equal(['order: 14711', 'order: 4711']);
      for (const argumentLine of await argumentLines.all()) {
        const box = await argumentLine.boundingBox();
        const cell = await argumentLine.locator('xpath=ancestor::td').boundingBox();
        if (box === null || cell === null) throw new Error('It is not visible');
        expect(box.x + box.width).to.be.at.most(cell.x + cell.width);
      }
    }
  });

  it('links filters to the pages of what they name', async () => {
    await page.goto(`${site.url}/job-dashboard/jobs?name=send-invoice&queue=mail&words=x`);
    const filters = page.getByRole('list', { name: 'Filters' });
    await filters.getByRole('link', { name: 'queue mail', exact: true }).waitFor();
    await filters.getByRole('link', { name: 'name send-invoice', exact: true }).click();
    await page.waitForURL('**/types/send-invoice');
  });

  it('confirms changes to selected jobs in a dialog', async () => {
    await selectAll().check();
    await page.getByRole('button', { name: 'Retry…' }).click();
    await dialog().getByText('2 selected jobs').waitFor();
    await dialog().getByRole('button', { name: 'Retry 2 jobs' }).click();
    await page.getByRole('heading', { level: 1, name: 'Bulk retry' }).waitFor();
    const [operation] = await site.story.storage.bulk.list({ limit: 1 });
    expect(operation?.matched?.count).to.equal(2);
  });

  const cancelledParcels = async (length: number): Promise<{ id: string }[]> => {
    const { storage } = site.story;
    const definition = defineJob({ name: 'pack-parcel', args: Type.Object({}) });
    const orders = Array.from({ length }, () => ({ definition, args: {} }));
    const jobs = await new JobClient(storage).enqueueMany(orders);
    await storage.bulk.start({ action: 'cancel', filter: { name: ['pack-parcel'] } });
    while (await storage.bulk.advance());
    return jobs;
  };

  it('changes only the selected jobs, however many', async () => {
    const { storage } = site.story;
    const jobs = await cancelledParcels(60);
    await page.goto(`${site.url}/job-dashboard/jobs?name=pack-parcel`);
    await selectAll().check();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await dialog().getByRole('heading', { name: '50 jobs', exact: true }).waitFor();
    await dialog().getByRole('button', { name: 'Delete 50 jobs' }).click();
    await page.getByRole('heading', { level: 1, name: 'Bulk delete' }).waitFor();
    storage.manualClock.advance(120_000);
    while (await storage.bulk.advance());
    const left = await storage.jobs.list({ filter: { name: ['pack-parcel'] }, order: 'oldest', limit: 60 });
    expect(left.map(({ id }) => id)).to.deep.equal(jobs.slice(0, 10).map(({ id }) => id));
  });

  it('confirms changes to all matching jobs in a dialog', async () => {
    await page.getByRole('link', { name: 'Delete all 2…' }).click();
    await dialog().getByRole('heading', { name: 'Delete these jobs?' }).waitFor();
    expect(await dialog().getByText('state:failed').count()).to.equal(1);
  });

  it('shows times in the dialog in the viewer’s zone', async () => {
    const { bulk } = site.story.storage;
    const preview = bulk.preview.bind(bulk);
    bulk.preview = async (request) => ({
      ...(await preview(request)),
      oldestSearchedIds: { failed: '019ca9e9-d580-7000-8000-000000000000' }, // created 1 March 2026, 15:00 UTC
    });
    const context = await browser.newContext({ timezoneId: 'Asia/Tokyo', locale: 'en-GB' });
    try {
      const tokyo = await context.newPage();
      await tokyo.goto(`${site.url}/job-dashboard/jobs?state=failed`);
      await tokyo.getByRole('link', { name: 'Delete all 2…' }).click();
      const title = await tokyo.getByRole('dialog').locator('time').first().getAttribute('title');
      expect(title).to.match(/GMT\+9|JST/);
    } finally {
      await context.close();
    }
  });

  it('keeps counting in the dialog', async () => {
    const { storage } = site.story;
    await cancelledParcels(120);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const preview = storage.bulk.preview.bind(storage.bulk);
    storage.bulk.preview = async (request) => {
      await released;
      return preview(request);
    };
    await page.goto(`${site.url}/job-dashboard/jobs?name=pack-parcel`);
    await page.getByRole('link', { name: 'Delete all 120…' }).click();
    await dialog().getByText('Counting the jobs.').waitFor();
    release();
    await dialog().getByRole('heading', { name: '120 jobs', exact: true }).waitFor();
    expect(await dialog().locator(':focus').innerText()).to.equal('Cancel');
    await dialog().getByRole('button', { name: 'Delete 120 jobs' }).click();
    await page.getByRole('heading', { level: 1, name: 'Bulk delete' }).waitFor();
  });

  it('deletes nothing if the deletion is undone within two minutes', async () => {
    const { storage } = site.story;
    await page.getByRole('link', { name: 'Delete all 2…' }).click();
    await dialog().getByRole('button', { name: 'Delete 2 jobs' }).click();
    await page.getByText('2 jobs will be deleted in 2 min').waitFor();
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone before it began. No job was deleted.').waitFor();
    storage.manualClock.advance(120_000);
    while (await storage.bulk.advance());
    expect((await storage.jobs.stateCounts()).failed).to.equal(2);
  });

  it('suggests the arguments that have numbers if a number is not found', async () => {
    await page.goto(`${site.url}/job-dashboard/jobs?words=998877`);
    await page.getByRole('link', { name: 'args.reader:998877' }).waitFor();
  });

  for (const [how, leave] of [
    ['its link', () => dialog().getByRole('link', { name: 'Cancel', exact: true }).click()],
    ['the escape key', () => page.keyboard.press('Escape')],
  ] as const) {
    it(`is unchanged when the dialog is closed by ${how}`, async () => {
      await page.getByRole('link', { name: 'Retry all 2…' }).click();
      await dialog().waitFor();
      await leave();
      await dialog().waitFor({ state: 'detached' });
      expect(page.url()).to.match(/jobs\?state=failed$/);
    });
  }

  it('opens the confirmation page if it cannot be shown in a dialog', async () => {
    await page.route('**/bulk/confirm?**', (route) =>
      route.request().resourceType() === 'fetch' ? route.abort() : route.continue(),
    );
    await page.getByRole('link', { name: 'Retry all 2…' }).click();
    await page.getByRole('heading', { level: 1, name: 'Retry these jobs?' }).waitFor();
  });

  it('opens the dialog with the focus on the answer that changes nothing', async () => {
    await page.getByRole('link', { name: 'Delete all 2…' }).click();
    await dialog().waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).to.equal('Cancel');
  });

  it('opens one dialog, however often it is clicked', async () => {
    await page.getByRole('link', { name: 'Delete all 2…' }).dblclick();
    await dialog().first().waitFor();
    await page.waitForLoadState('networkidle');
    expect(await dialog().count()).to.equal(1);
  });

  it('opens a dialog with icons and one top-level heading', async () => {
    await page.getByRole('link', { name: 'Delete all 2…' }).click();
    await dialog().waitFor();
    const icons = await dialog()
      .locator('use')
      .evaluateAll((uses) => uses.map((use) => use.getAttribute('href')));
    expect(icons.filter((icon) => icon?.startsWith('#') !== true)).to.deep.equal([]);
    const levels = await dialog()
      .locator('h1, h2')
      .evaluateAll((headings) => headings.map(({ nodeName }) => nodeName));
    expect(levels).to.deep.equal(['H1', 'H2', 'H2']);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1_280, 320]) {
      it(`has a dialog without axe violations, in ${colorScheme} at ${width} px`, async () => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await page.getByRole('link', { name: 'Delete all 2…' }).click();
        await dialog().waitFor();
        expect(await axeViolations(page)).to.deep.equal([]);
        expect(await dialog().evaluate((open) => open.scrollWidth <= open.clientWidth)).to.equal(true);
      });
    }
  }

  it('scrolls the current page and tab into view on a phone', async () => {
    await page.setViewportSize({ width: 320, height: 800 });
    await page.goto(`${site.url}/job-dashboard/jobs?state=failed`);
    for (const here of await page.locator('[aria-current]').all()) {
      const { x, width } = (await here.boundingBox()) ?? { x: -1, width: 0 };
      expect([x >= 0, x + width <= 320]).to.deep.equal([true, true]);
    }
  });

  it('has evenly spaced lines on a phone, with large enough touch targets', async () => {
    await page.setViewportSize({ width: 320, height: 800 });
    for (const path of ['jobs', 'queues', `batches/${site.story.batchId}`]) {
      await page.goto(`${site.url}/job-dashboard/${path}`);
      const pitches = await page.locator('.stack tbody tr').evaluateAll((shown) =>
        shown.flatMap((row) => {
          const cells = [...row.querySelectorAll(':scope > :not(.pick)')].map((cell) =>
            cell.getBoundingClientRect(),
          );
          const lines = new Map(
            cells.filter(({ height }) => height > 0).map(({ top, height }) => [top, height]),
          );
          const tops = [...lines.keys()].toSorted((one, other) => one - other);
          return tops.slice(1).flatMap((top, index) => {
            const above = tops[index] ?? 0;
            // Ignores the distance below cells with several lines of text.
            return (lines.get(above) ?? 0) > 30 ? [] : [top - above];
          });
        }),
      );
      expect(pitches, path).not.to.have.lengthOf(0);
      expect(Math.max(...pitches) - Math.min(...pitches), path).to.be.at.most(2);
      const links = await page
        .locator('.stack td > a')
        .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().height).filter(Boolean));
      expect(Math.min(...links), path).to.be.at.least(24);
    }
  });

  it('links from the search box of every page to the one above the list', async () => {
    await page.getByRole('link', { name: 'Find jobs' }).click();
    await page.keyboard.type('queue:mail');
    expect(await page.getByRole('searchbox').inputValue()).to.equal('queue:mail');
  });
});
