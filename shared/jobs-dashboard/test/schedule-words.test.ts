import { MemoryStorage } from '@longshore/jobs';
import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { recurringPage } from '../src/pages/recurring.js';
import type { PageContext } from '../src/shell/page.js';
import { recurring } from './situation.js';

/** Returns the words for a schedule on the page of recurring jobs; `null` if it shows only the expression. */
async function shownFor(cron: string | null, every: string | null = null): Promise<unknown> {
  const list = (): Promise<ReturnType<typeof recurring>[]> => Promise.resolve([recurring({ cron, every })]);
  const reader = overriding(new MemoryStorage(), { recurring: { list } });
  const request = {
    params: {},
    query: new URLSearchParams(),
    viewer: { name: 'ann', role: 'viewer' },
  } as const;
  const { regions } = await recurringPage(request, { reader } as unknown as PageContext);
  const model = (await regions[0]?.load()) as { readonly jobs: readonly { readonly words: unknown }[] };
  return model.jobs[0]?.words;
}

describe('a schedule in words', () => {
  for (const [cron, words] of [
    ['* * * * *', 'every minute'],
    ['*/1 * * * *', 'every minute'],
    ['*/15 * * * *', 'every 15 min'],
    ['5 * * * *', 'hourly at :05'],
    ['30 2 * * *', 'daily at 02:30'],
    ['30 2 * * 1-5', 'Monday to Friday at 02:30'],
    ['0 4 * * 0', 'Sundays at 04:00'],
    ['0 4 * * 7', 'Sundays at 04:00'],
    ['0 6 1 * *', 'monthly on day 1 at 06:00'],
    ['* * * * * *', 'every second'],
    ['*/10 * * * * *', 'every 10 s'],
    ['*/7 * * * * *', null],
    ['30 * * * * *', 'every minute at :30 s'],
    ['0 */15 * * * *', 'every 15 min'],
    ['5 */15 * * * *', null],
    ['5 30 2 * * *', 'daily at 02:30:05'],
    ['0 30 2 * * 1-5', 'Monday to Friday at 02:30'],
  ] as const) {
    it(`reads ${cron} as ${words ?? 'it is written'}`, async () => {
      expect(await shownFor(cron)).to.equal(words);
    });
  }

  it('reads an interval as it is written', async () => {
    expect(await shownFor(null, '1 h 30 min')).to.equal('every 1 h 30 min');
  });

  for (const cron of [
    '*/7 * * * *',
    '0 */2 * * *',
    '0 9-17 * * *',
    '0 4 1 * 1',
    '0 4 1 1 *',
    '0 4 * * MON',
    '0 4 L * *',
    '',
  ]) {
    it(`leaves ${JSON.stringify(cron)} as it is`, async () => {
      expect(await shownFor(cron)).to.equal(null);
    });
  }
});
