import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RunOnly } from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const allRules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The rules that depend on colours. All other rules find the same violations in every colour scheme. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/** Returns the violations that axe finds on a page. Each string names a rule and the elements that break it. */
export function axeViolations(page: Page): Promise<string[]> {
  return violations(page, { type: 'tag', values: allRules });
}

export function colourViolations(page: Page): Promise<string[]> {
  return violations(page, { type: 'rule', values: colourRules });
}

async function violations(page: Page, runOnly: RunOnly): Promise<string[]> {
  // Loads axe with `evaluate`, because the content security policy would block an inline script.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  return page.evaluate(async (only) => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
    const results = await axe.run({ runOnly: only, resultTypes: ['violations'], iframes: false });
    return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
  }, runOnly);
}
