import { expect } from 'chai';
import fc from 'fast-check';
import { admissible, afterAdmission } from '../src/storage.js';

const rates = fc.record({
  jobs: fc.integer({ min: 1, max: 100 }),
  periodMs: fc.integer({ min: 1, max: 10_000 }),
  burst: fc.integer({ min: 1, max: 100 }),
});

describe('The rate of a concurrency key', () => {
  it('admits, in any span of time, at most a burst and what the span refills', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(rates, pauses, (rate, waits) => {
        const admitted: { atMs: number; jobs: number }[] = [];
        let [nowMs, fullAtMs]: [number, number | null] = [1_000_000, null];
        for (const wait of waits) {
          nowMs += wait;
          const key = { rate, nowMs, fullAtMs, slots: Infinity, unclaimed: 0 };
          const jobs = admissible(key);
          ({ fullAtMs } = afterAdmission(key, jobs));
          admitted.push({ atMs: nowMs, jobs });
        }
        for (const [from, { atMs }] of admitted.entries()) {
          let jobs = 0;
          for (const later of admitted.slice(from)) {
            jobs += later.jobs;
            const refilled = ((later.atMs - atMs) * rate.jobs) / rate.periodMs;
            expect(jobs).to.be.at.most(rate.burst + refilled + 1e-3);
          }
        }
      }),
    );
  });

  it('states a time at which at least one more job is admissible', () => {
    fc.assert(
      fc.property(rates, (rate) => {
        const key = { rate, nowMs: 1_000_000, fullAtMs: null, slots: Infinity, unclaimed: 0 };
        const { fullAtMs, nextAtMs } = afterAdmission(key, admissible(key));
        const next = { ...key, nowMs: nextAtMs ?? 0, fullAtMs };
        expect(admissible(next)).to.be.at.least(1);
      }),
    );
  });

  it('admits jobs again soon after the rate was raised', () => {
    const rate = { jobs: 10, periodMs: 1_000, burst: 1 };
    const key = { rate, nowMs: 0, fullAtMs: 86_400_000, slots: Infinity, unclaimed: 0 };
    expect(afterAdmission(key, 0).nextAtMs).to.equal(100);
  });

  it('waits for the end of a job if all slots are taken', () => {
    const rate = { jobs: 10, periodMs: 1_000, burst: 10 };
    expect(afterAdmission({ rate, nowMs: 0, fullAtMs: null, slots: 2, unclaimed: 0 }, 2).nextAtMs).to.equal(
      null,
    );
  });
});
