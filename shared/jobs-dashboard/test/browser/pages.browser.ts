import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { pages } from '../../src/pages/routes.js';
import { openSite, pagePaths, type Site } from '../dashboard-site.js';
import { seedSteps } from '../story-steps.js';
import { axeViolations, colourViolations } from './axe.js';
import { eventually } from '@longshore/test-support';
import { launchChromium } from '@longshore/test-support/chromium';

/**
 * At each width, one colour scheme is checked against all rules, the other only against the colour rules. This suffices
 * because the schemes differ only in colours.
 */
const variants = [
  { colorScheme: 'light', width: 1_280, violations: axeViolations },
  { colorScheme: 'dark', width: 1_280, violations: colourViolations },
  { colorScheme: 'dark', width: 320, violations: axeViolations },
  { colorScheme: 'light', width: 320, violations: colourViolations },
] as const;
const TABS = 2;

type Variant = (typeof variants)[number];

interface Finding {
  readonly path: string;
  readonly of: 'axe' | 'width' | 'console' | 'scrolled';
  readonly variant: string;
  readonly what: string;
}

const nameOf = ({ colorScheme, width }: Variant): string => `${colorScheme} at ${width} px`;

describe('every page in a browser', () => {
  const findings: Finding[] = [];
  let addresses: string[] = [];
  let seen = 0;

  /** Visits every page. Does not reload a page for each variant, because loading takes most of the time. */
  before(async () => {
    const browser = await launchChromium();
    const site = await openSite({ control: ({ storage }) => storage });
    const stepped = await seedSteps(site.story.storage);
    const locked = await openSite({ password: 'secret' });
    const { storage } = site.story;
    for (let index = 0; index < 12; index += 1)
      await storage.control.cancel(await storage.add({ name: 'many', queue: 'many' }));
    addresses = [
      // Offers to retry ten first.
      `${site.url}/job-dashboard/bulk/confirm?action=retry&state=cancelled&queue=many`,
      ...pagePaths(site.story).map((path) => `${site.url}/job-dashboard${path}`),
      ...Object.values(stepped).map((id) => `${site.url}/job-dashboard/jobs/${id}`),
      `${site.url}/job-dashboard/nowhere`,
      `${locked.url}/job-dashboard/`,
    ];
    const context = await browser.newContext();
    try {
      const requestContext = async (): Promise<void> => {
        const page = await context.newPage();
        for (let address = addresses.shift(); address !== undefined; address = addresses.shift()) {
          findings.push(...(await inspect(page, address)));
          seen += 1;
        }
      };
      await Promise.all(Array.from({ length: TABS }, requestContext));
    } finally {
      await browser.close();
      await Promise.all([site.close(), locked.close()]);
    }
  });

  const findingsOf = (of: Finding['of'], variant?: Variant): Finding[] =>
    findings.filter(
      (finding) => finding.of === of && (variant === undefined || finding.variant === nameOf(variant)),
    );

  for (const variant of variants) {
    it(`has no axe violation in ${nameOf(variant)}`, () => {
      expect(findingsOf('axe', variant)).to.deep.equal([]);
    });
  }

  it('does not scroll sideways at 320 px', () => {
    expect(findingsOf('width')).to.deep.equal([]);
  });

  it('begins at its top, on a phone, too', () => {
    expect(findingsOf('scrolled')).to.deep.equal([]);
  });

  it('follows its content security policy and throws no error', () => {
    expect(findingsOf('console')).to.deep.equal([]);
  });

  it('was visited', () => {
    expect([seen > Object.keys(pages).length, addresses]).to.deep.equal([true, []]);
  });
});

async function inspect(page: Page, address: string): Promise<Finding[]> {
  const path = new URL(address).pathname;
  const findings: Finding[] = [];
  const complain = (what: string): void => void findings.push({ path, of: 'console', variant: '', what });
  page.removeAllListeners();
  page.on('pageerror', (error) => complain(error.message));
  page.on('console', (message) => {
    // Ignores responses with status 401 or 404. The browser reports them as errors, but they are expected.
    if (
      message.type() === 'error' &&
      !/^Failed to load resource: .* status of (?:401|404)\b/.test(message.text())
    )
      complain(message.text());
  });
  await page.goto(address);
  for (const variant of variants) {
    const { colorScheme, width, violations } = variant;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const common = { path, variant: nameOf(variant) };
    findings.push(...(await violations(page)).map((what) => ({ ...common, of: 'axe' as const, what })));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) findings.push({ ...common, of: 'width', what: `${wide} px` });
  }
  // Reloads the page at the narrow width, because scripts that scroll run only when the page is loaded.
  await page.reload();
  const scrolled = await page.evaluate(() => window.scrollY);
  if (scrolled !== 0) findings.push({ path, variant: '', of: 'scrolled', what: `${scrolled} px` });
  return findings;
}

describe('in a browser', () => {
  let browser: Browser;
  let site: Site;
  before(async () => {
    browser = await launchChromium();
    site = await openSite({ control: ({ storage }) => storage });
  });
  after(async () => {
    await browser.close();
    await site.close();
  });

  const withPage = async (use: (page: Page, context: BrowserContext) => Promise<void>): Promise<void> => {
    const context = await browser.newContext();
    try {
      await use(await context.newPage(), context);
    } finally {
      await context.close();
    }
  };

  it('the slash key focuses the search box, except in a field', async () => {
    await withPage(async (page) => {
      await page.goto(`${site.url}/job-dashboard/`);
      const search = page.getByRole('searchbox');
      await page.keyboard.press('/');
      await page.keyboard.type('a/b');
      expect(await search.inputValue()).to.equal('a/b');
    });
  });

  it('shortcuts can be turned off, and on again', async () => {
    await withPage(async (page) => {
      await page.goto(`${site.url}/job-dashboard/help`);
      const search = page.getByRole('searchbox');
      const isFocused = () => search.evaluate((element) => element === document.activeElement);
      await page.getByRole('button', { name: 'Turn shortcuts off' }).click();
      await page.goto(`${site.url}/job-dashboard/`);
      await page.keyboard.press('/');
      expect(await isFocused()).to.equal(false);
      await page.goto(`${site.url}/job-dashboard/help`);
      await page.getByRole('button', { name: 'Turn shortcuts on' }).click();
      await page.keyboard.press('/');
      expect(await isFocused()).to.equal(true);
    });
  });

  it('j and k go through the rows of a list, and ? shows the shortcuts', async () => {
    await withPage(async (page) => {
      await page.goto(`${site.url}/job-dashboard/jobs?state=failed`);
      const focused = () =>
        page.evaluate(() => document.activeElement?.closest('tr')?.dataset['key'] ?? null);
      const rows = await page
        .locator('tbody tr')
        .evaluateAll((list) => list.map((row) => row.dataset['key']));
      for (const [key, row] of [
        ['j', 0],
        ['j', 1],
        ['k', 0],
        ['k', 0],
      ] as const) {
        await page.keyboard.press(key);
        expect(await focused(), key).to.equal(rows[row]);
      }
      await page.keyboard.press('?');
      const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await dialog.waitFor();
      expect(await axeViolations(page)).to.deep.equal([]);
      await page.keyboard.press('j');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await focused()).to.equal(rows[0]);
    });
  });

  it('r goes to the main action, and the focus is on the message after it', async () => {
    await withPage(async (page) => {
      await page.goto(`${site.url}/job-dashboard/jobs/${site.story.failedId}`);
      await page.keyboard.press('r');
      expect(await page.evaluate(() => document.activeElement?.textContent)).to.equal('Retry');
      await page.keyboard.press('Enter');
      await page.getByRole('status').filter({ hasText: 'The job will run again.' }).waitFor();
      const focused = (): string | null | undefined => document.activeElement?.getAttribute('role');
      await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'status');
      expect(await page.evaluate(focused)).to.equal('status');
    });
  });

  it('ids and whole documents can be copied', async () => {
    await withPage(async (page, context) => {
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.goto(`${site.url}/job-dashboard/jobs/${site.story.doneId}`);
      const copied = async (name: string): Promise<string> => {
        await page.getByRole('button', { name, exact: true }).click();
        await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor({ state: 'attached' });
        return page.evaluate(() => navigator.clipboard.readText());
      };
      expect(await copied('Copy id')).to.equal(site.story.doneId);
      await page.reload();
      const { args } = (await site.story.storage.jobs.find(site.story.doneId)) ?? {};
      expect(JSON.parse(await copied('Copy arguments'))).to.deep.equal(args);
    });
  });

  it('the name of a long job is complete for assistive technology, and its time exact when tapped', async () => {
    const name = `${'long-'.repeat(12)}name`;
    const { storage } = site.story;
    await storage.enqueuer.enqueue([{ ...storage.order({ name }), name }]);
    await withPage(async (page) => {
      await page.goto(`${site.url}/job-dashboard/jobs?name=${name}`);
      await page.getByRole('link', { name, exact: true }).first().waitFor();
    });
    const phone = await launchChromium({ gestures: true });
    try {
      const touch = await phone.newContext({
        hasTouch: true,
        isMobile: true,
        viewport: { width: 320, height: 640 },
      });
      const page = await touch.newPage();
      await page.goto(`${site.url}/job-dashboard/jobs?name=${name}`);
      const time = page.locator('tbody time').first();
      // The list can be refreshed between the tap and the look.
      await eventually(
        async () => {
          await time.tap();
          return time.evaluate((element) => getComputedStyle(element, '::after').content);
        },
        (content) => /20\d\d/.test(content),
      );
    } finally {
      await phone.close();
    }
  });

  it('the current page is visible in forced colours', async () => {
    await withPage(async (page) => {
      await page.emulateMedia({ forcedColors: 'active' });
      await page.goto(`${site.url}/job-dashboard/jobs?state=failed`);
      const lines = await page
        .locator('[aria-current]')
        .evaluateAll((links) => links.map((link) => getComputedStyle(link).textDecorationLine));
      expect(lines).to.deep.equal(['underline', 'underline']);
    });
  });

  it('the focus is visible', async () => {
    await withPage(async (page) => {
      await page.goto(`${site.url}/job-dashboard/jobs`);
      for (let pressed = 0; pressed < 25; pressed += 1) {
        await page.keyboard.press('Tab');
        const outline = await page.evaluate(
          () => getComputedStyle(document.activeElement ?? document.body).outlineWidth,
        );
        expect(outline).to.equal('2px');
      }
    });
  });

  it('a long installation name leaves room for the search at 320 px', async () => {
    const named = await openSite({ instance: 'x'.repeat(40) });
    try {
      await withPage(async (page) => {
        await page.setViewportSize({ width: 320, height: 640 });
        await page.goto(`${named.url}/job-dashboard/`);
        const search = await page.locator('.deck .search').boundingBox();
        expect(search?.width).to.equal(88);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.equal(320);
      });
    } finally {
      await named.close();
    }
  });

  it('the installation’s name is below the product’s, aligned with it', async () => {
    const named = await openSite({ instance: 'staging' });
    try {
      await withPage(async (page) => {
        await page.setViewportSize({ width: 1_280, height: 800 });
        await page.goto(`${named.url}/job-dashboard/`);
        const mark = await page.locator('.brand .mark').boundingBox();
        const tag = await page.locator('.brand .tag').boundingBox();
        expect(tag?.x).to.equal((mark?.x ?? 0) + 32);
        expect(tag?.y).to.be.at.least((mark?.y ?? 0) + (mark?.height ?? 0));
      });
    } finally {
      await named.close();
    }
  });
});
