import { MemoryStorage } from '@longshore/jobs';
import type { NewAuditEntry } from '@longshore/jobs/storage';
import { ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import type { Marks } from '../src/pages/trends/marks.js';
import { trendsRegion } from '../src/pages/trends/region.js';
import type { PageContext } from '../src/shell/page.js';

const nowMs = Date.parse('2026-03-02T14:05:30Z');

type Action = Partial<NewAuditEntry> & { readonly action: string; readonly minutesAgo: number };

/** Records actions and returns the marks of a chart of the last hour. */
async function marksOf(actions: readonly Action[], subject: { queue?: string; name?: string } = {}) {
  const clock = new ManualClock(new Date(nowMs - 3_600_000));
  const storage = new MemoryStorage({ clock });
  for (const { minutesAgo, ...action } of actions) {
    clock.advance(nowMs - minutesAgo * 60_000 - clock.now());
    await storage.audit.record({ who: 'ann', target: null, filter: null, count: 1, ...action });
  }
  const context = { reader: storage, now: () => nowMs } as unknown as PageContext;
  const region = trendsRegion(context, { path: '', query: new URLSearchParams(), subject });
  const { marks, more } = (await region.load()) as Marks;
  return { texts: marks.map(({ text }) => text), xs: marks.map(({ x }) => x), more };
}

const pauses: Action[] = [
  { action: 'queues/pause', target: 'mail', minutesAgo: 50 },
  { action: 'types/pause', target: 'send', minutesAgo: 40 },
  { action: 'queues/pause', target: 'other', minutesAgo: 30 },
  { action: 'servers/quiet', target: 'a', minutesAgo: 20 },
];

describe('the marks in charts', () => {
  it('are what operators changed of anything, at its time', async () => {
    const { texts, xs } = await marksOf(pauses);
    expect(texts).to.deep.equal([
      'ann quieted server “a”',
      'ann paused queue “other”',
      'ann paused job type “send”',
      'ann paused queue “mail”',
    ]);
    expect(xs).to.deep.equal([664, 500, 336, 172]);
  });

  it('are only what concerns the queue or the job type of the charts', async () => {
    expect((await marksOf(pauses, { queue: 'mail' })).texts).to.deep.equal(['ann paused queue “mail”']);
    expect((await marksOf(pauses, { name: 'send' })).texts).to.deep.equal(['ann paused job type “send”']);
  });

  it('include bulk actions on jobs of the queue, or of any queue, by their filters', async () => {
    const retry = (filter: NewAuditEntry['filter'], count: number, minutesAgo: number): Action => ({
      action: 'bulk/retry',
      filter,
      count,
      minutesAgo,
    });
    const actions = [
      retry({ terms: [{ key: 'queue', value: 'mail' }] }, 1, 50),
      retry({ terms: [{ key: 'queue', value: 'other' }] }, 2, 40),
      retry({ state: 'failed', terms: [] }, 3, 30),
      retry({ filter: { queue: ['mail'], state: ['failed'] } }, 4, 20),
      retry({ ids: ['1', '2'] }, 5, 10),
    ];
    const { texts } = await marksOf(actions, { queue: 'mail' });
    expect(texts).to.deep.equal([4, 3, 1].map((n) => `ann started to retry ${n} job${n > 1 ? 's' : ''}`));
  });

  it('say how limits were changed, and leave out what was refused', async () => {
    const { texts } = await marksOf([
      {
        action: 'queues/limit',
        target: 'mail',
        filter: { before: { concurrencyLimit: 2 }, values: { concurrencyLimit: 4 } },
        minutesAgo: 9,
      },
      {
        action: 'queues/limit-key',
        target: 'mail',
        filter: { before: { limit: 2 }, values: { concurrencyKey: 'tenant-7', limit: 1_000 } },
        minutesAgo: 7,
      },
      { action: 'queues/resume', target: 'mail', filter: { outcome: 'refused' }, minutesAgo: 5 },
    ]);
    expect(texts).to.deep.equal([
      'ann set the limit of key “tenant-7” of queue “mail” to 1,000',
      'ann changed the limits of queue “mail”: at once 2 → 4',
    ]);
  });

  it('are one for actions that fall together, with their number and the first of them', async () => {
    const { texts } = await marksOf(
      ['pause', 'resume', 'pause', 'resume'].map((name) => ({
        action: `queues/${name}`,
        target: 'mail',
        minutesAgo: 20,
      })),
    );
    expect(texts).to.deep.equal([
      '4 actions (ann resumed queue “mail”, ann paused queue “mail”, ann resumed queue “mail” and 1 more)',
    ]);
  });

  it('are bounded, with a link to earlier actions', async () => {
    const actions = Array.from({ length: 30 }, (_each, index) => ({
      action: 'queues/pause',
      target: 'mail',
      minutesAgo: 59 - index,
    }));
    const { texts, more } = await marksOf(actions);
    expect(texts).to.have.length(12);
    expect(more).to.equal('audit?since=2026-03-02T13:05Z&until=2026-03-02T14:06Z');
    expect((await marksOf(actions.slice(0, 12))).more).to.equal(null);
  });
});
