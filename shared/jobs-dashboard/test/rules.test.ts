import { type StoredWarningRule, Timing } from '@longshore/jobs/storage';
import { overriding } from '@longshore/test-support';
import { MemoryStorage } from '@longshore/jobs';
import { expect } from 'chai';
import { type MeasuredRule, measureRules, ruleWarnings, withoutRuled } from '../src/diagnosis/rules.js';
import { longWaits } from '../src/diagnosis/queues.js';
import { noBlockingKeys } from '../src/diagnosis/blocking-keys.js';
import { openSite, type Site, textOf } from './dashboard-site.js';
import { ago, counts, nowMs, queue, read, server } from './situation.js';
import { randomOf } from './synthetic-history.js';
import type { FailingType, SlowType } from '../src/diagnosis/type-health.js';

describe('the rules for warnings', () => {
  const rule = (members: Partial<StoredWarningRule>): StoredWarningRule => ({
    application: 'shop',
    name: 'strict',
    about: { jobName: 'mail' },
    updatedAt: ago(1_000),
    ...members,
  });
  const measured = (members: Partial<StoredWarningRule>, of: Partial<MeasuredRule> = {}): MeasuredRule => ({
    rule: rule(members),
    failed: { hits: 0, of: 0 },
    runningMs: null,
    ran: 0,
    readySince: null,
    ...of,
  });

  it('warn of failures exactly if a share of at least 20 attempts failed, in 2,000 random histories', async () => {
    const random = randomOf(38);
    for (let history = 0; history < 2_000; history++) {
      const failing = Math.max(0.01, random());
      const about = random() < 0.5 ? { jobName: 'mail' } : { queue: 'q' };
      const rate = random();
      let [attempts, failures] = [0, 0];
      const timings = ['mail', 'other'].map((name) => {
        const timing = new Timing();
        for (let left = Math.floor(60 * random()); left > 0; left--) {
          const outcome = random() >= rate ? 'done' : random() < 0.5 ? 'failed' : 'retried';
          timing[outcome]++;
          if ('jobName' in about && name !== about.jobName) continue;
          attempts++;
          if (outcome !== 'done') failures++;
        }
        return { name, timing };
      });
      const reader = overriding(new MemoryStorage(), {
        warningRules: { list: async () => [rule({ about, failing })] },
        timings: { listNames: async () => timings },
      });
      const warnings = ruleWarnings(await measureRules({ reader }), nowMs);
      const isBroken = attempts >= 20 && failures / attempts >= failing;
      expect([history, warnings.length]).to.deep.equal([history, isBroken ? 1 : 0]);
      if (isBroken)
        expect(read(warnings[0]?.text ?? [])).to.include(
          `${failures} of ${attempts} attempts in the last five minutes failed`,
        );
    }
  });

  it('warn of run times and waiting times that reach the threshold, and say which rule did', () => {
    const [slow] = ruleWarnings([measured({ slowMs: 2_000 }, { runningMs: 2_400, ran: 20 })], nowMs);
    expect(slow && read(slow.text)).to.equal(
      'Job type “mail”: attempts in the last five minutes ran 2.4 s (95th percentile), and the rule “strict” of shop allows less than 2.0 s.',
    );
    const waiting = measured(
      { about: { queue: 'q' }, waitingMs: 30_000, tell: ['ops'] },
      { readySince: ago(31) },
    );
    const [waits] = ruleWarnings([waiting], nowMs);
    expect(waits && read(waits.text)).to.include('Queue “q”: a job has been ready for 31 s');
    expect(waits?.tell).to.deep.equal(['ops']);
    const calm = [
      measured({ slowMs: 2_000 }, { runningMs: 1_999, ran: 20 }),
      measured({ slowMs: 2_000 }, { runningMs: 2_400, ran: 19 }),
      measured({ waitingMs: 30_000 }, { readySince: ago(29) }),
      measured({ waitingMs: 30_000 }),
    ];
    expect(ruleWarnings(calm, nowMs)).to.deep.equal([]);
  });

  it('replace the built-in judgement of the same job type only, for the same threshold only', () => {
    const failing = ['mail', 'other'].map((name) => ({ name }) as FailingType);
    const slow = (['running', 'waiting'] as const).map(
      (kind) => ({ name: 'mail', slowness: { kind } }) as SlowType,
    );
    const found = { failing, slow };
    expect(withoutRuled(found, [measured({ failing: 0.5 })])).to.deep.equal({
      failing: failing.slice(1),
      slow,
    });
    expect(withoutRuled(found, [measured({ slowMs: 1 })])).to.deep.equal({ failing, slow: slow.slice(1) });
    expect(withoutRuled(found, [measured({ about: { queue: 'mail' }, failing: 0.5 })])).to.deep.equal(found);
  });

  it('replace the five minutes for which a queue may lag, but not the warning that it is stuck', () => {
    const queues = [queue({ oldestEnqueuedAt: ago(400), counts: { ...counts, enqueued: 2 } })];
    const context = { queues, blocking: noBlockingKeys, pausedJobs: [], nowMs };
    const busy = { ...context, servers: [server({ processing: 2 })] };
    expect(longWaits(busy)).to.have.length(1);
    expect(longWaits({ ...busy, ruled: new Set(['q']) })).to.deep.equal([]);
    expect(longWaits({ ...context, servers: [server()], ruled: new Set(['q']) })).to.have.length(1);
  });

  describe('on their page', () => {
    let site: Site;
    before(async () => {
      site = await openSite();
      await site.story.storage.warningRules.synchronize('shop', [
        { name: 'cards', about: { jobName: 'charge-card' }, failing: 0.5, tell: ['billing'] },
        { name: 'search', about: { queue: 'search' }, waitingMs: 1 },
      ]);
    });
    after(() => site.close());

    it('show their thresholds, what is measured now, and who gets the messages', async () => {
      const text = textOf((await site.http.get('/job-dashboard/rules')).text);
      expect(text)
        .to.include('Calm cards in the code of shop Job type charge-card 50 % of the attempts fail · now:')
        .and.include('billing')
        .and.include('Warns search in the code of shop Queue search a job has been ready for 1 ms · now:')
        .and.include('all webhooks');
      expect((await site.http.get('/job-dashboard/incidents')).text).to.include('/rules">');
    });

    it('warn on the overview', async () => {
      const text = textOf((await site.http.get('/job-dashboard/')).text);
      expect(text).to.include('Queue “search”: a job has been ready for');
    });
  });
});
