import { defineJob, handleJob, JobClient, JobServer, MemoryStorage } from '@longshore/jobs';
import type { DashboardReader } from '../src/reading/dashboard-reader.js';
import { eventually, ManualClock, patientServer } from '@longshore/test-support';
import { expect } from 'chai';
import { failingTypeWarnings } from '../src/diagnosis/failures.js';
import { slowTypeWarnings } from '../src/diagnosis/slow-types.js';
import { findTypeHealth, readHealthOfType, type TypeHealth } from '../src/diagnosis/type-health.js';
import type { Warning } from '../src/diagnosis/warning.js';
import { plainText } from '../src/format/sentence.js';

const MINUTE_MS = 60_000;
const shortWait = { waitedMs: 5, readyMs: 5 };

describe('a job type', () => {
  let clock: ManualClock;
  let storage: MemoryStorage;
  beforeEach(() => {
    clock = new ManualClock();
    storage = new MemoryStorage({ clock });
  });
  afterEach(() => storage.close());

  /** Passes minutes. In each of them, attempts end: `failed` of them fail and are retried. */
  const pass = (
    minutes: number,
    { done, failed = 0, ms = 200, name = 'charge-card', queue = 'payments', wait = shortWait }: Attempts,
  ): void => {
    for (let minute = 0; minute < minutes; minute++) {
      for (let attempt = 0; attempt < done + failed; attempt++) {
        storage.timings.started(queue, name, wait);
        storage.timings.ended(queue, name, attempt < failed ? 'retry' : 'done', ms);
      }
      storage.timings.store();
      clock.advance(MINUTE_MS);
    }
  };
  const textOf = ({ text }: Warning): string =>
    plainText(text, clock.now()).replaceAll(/\d{4}-\d\d-\d\d (\d\d:\d\d) UTC/g, '$1');
  const warnings = ({ failing, slow }: TypeHealth): string[] =>
    [...failingTypeWarnings(failing), ...slowTypeWarnings(slow, null)].map(
      (warning) => `${textOf(warning)} ${plainText([warning.advice].flat(), clock.now())}`,
    );
  const found = async (queue?: string): Promise<string[]> => warnings(await findTypeHealth(storage, queue));

  const allSucceeded = 'All jobs that failed in the last 10 minutes have succeeded since, or were deleted.';

  it('that fails is reported by its attempts, although each job succeeded when it was retried', async () => {
    pass(120, { done: 49, failed: 1 });
    pass(3, { done: 35, failed: 65 });
    expect(await found()).to.deep.equal([
      `Job type “charge-card” has been failing since 02:00: 195 attempts failed, 65 % of the latest 100. ${allSucceeded} Before, 2 % of 6,000 attempts failed.`,
    ]);
  });

  it('that fails shows its share now, and in each minute of the last hour', async () => {
    pass(120, { done: 49, failed: 1 });
    clock.advance(MINUTE_MS);
    pass(3, { done: 35, failed: 65 });
    const [warning] = failingTypeWarnings((await findTypeHealth(storage)).failing);
    expect(warning?.figure).to.deep.equal({ value: ['65 %'], label: 'of the latest 100 attempts failed' });
    const { points = [] } = warning?.course ?? {};
    expect(points).to.have.length(60);
    expect(points.slice(-6).map(({ value }) => value)).to.deep.equal([0.02, null, 0.65, 0.65, 0.65, null]);
  });

  for (const [what, readyMs, advice] of [
    ['servers', 300_000, /ahead of it, and whether its queue has enough servers\.$/],
    [
      'keys, or because nothing enqueued them,',
      3_000,
      /Its jobs were not ready for 99 % of this time: concurrency keys blocked them or, if they were scheduled, no server had enqueued them yet\. .* more slots would not help\./,
    ],
  ] as const)
    it(`that waits longer because of ${what} is reported with what would help`, async () => {
      pass(120, { done: 50 });
      pass(4, { done: 50, wait: { waitedMs: 300_000, readyMs } });
      const [warning = ''] = await found();
      expect(warning).to.match(/^Job type “charge-card” has been waiting .* × longer/);
      expect(warning).to.match(advice);
    });

  it('that has failed for hours is compared with the time before it began', async () => {
    pass(600, { done: 49, failed: 1 });
    pass(400, { done: 35, failed: 65 });
    // Periods over three hours ago are known by the hour.
    expect(await found()).to.have.length(1);
    expect((await found())[0]).to.match(
      /failing since 10:00: 26,000 attempts failed, 65 % of .* Before, 2 % of 30,000 attempts failed\.$/,
    );
  });

  it('that is back to normal recovers within a minute, and is no longer reported two minutes later', async () => {
    pass(120, { done: 49, failed: 1 });
    pass(4, { done: 35, failed: 65 });
    pass(1, { done: 49, failed: 1 });
    expect(await found()).to.deep.equal([
      `Job type “charge-card” is recovering: 2 % of the latest 50 attempts failed. From 02:00 to 02:04, 260 attempts failed, 65 %. ${allSucceeded} Before, 2 % of 6,000 attempts failed.`,
    ]);
    pass(1, { done: 49, failed: 1 });
    expect(await found()).to.deep.equal([]);
  });

  for (const [what, ...periods] of [
    [
      'fails again after an earlier anomaly',
      [10, { done: 30 }],
      [10, { done: 9, failed: 21 }],
      [10, { done: 30 }],
      [5, { done: 20, failed: 10 }],
    ],
    ['runs longer, and mostly ran in the last ten minutes', [60, { done: 2 }], [5, { done: 60, ms: 4_000 }]],
  ] as const)
    it(`that ${what} is found among all types as on its page`, async () => {
      for (const [minutes, attempts] of periods) pass(minutes, attempts);
      const onPage = warnings(await readHealthOfType(storage, 'charge-card'));
      expect(onPage).to.have.length(1);
      expect(await found()).to.deep.equal(onPage);
    });

  for (const [what, began, ...periods] of [
    [
      'for the third time within minutes',
      '00:28',
      [10, { done: 30 }],
      [5, { done: 9, failed: 21 }],
      [4, { done: 30 }],
      [5, { done: 9, failed: 21 }],
      [4, { done: 30 }],
      [5, { done: 20, failed: 10 }],
    ],
    [
      'again after it failed for longer than not',
      '00:19',
      [5, { done: 30 }],
      [10, { done: 9, failed: 21 }],
      [4, { done: 30 }],
      [5, { done: 20, failed: 10 }],
    ],
    [
      'for a third, after few attempts without a failure',
      'about 00:43',
      [43, { done: 1 }],
      [14, { done: 20, failed: 10 }],
    ],
  ] as const)
    it(`that fails ${what} is reported since it does`, async () => {
      for (const [minutes, attempts] of periods) pass(minutes, attempts);
      expect((await found())[0]).to.include(`has been failing since ${began}:`);
    });

  it('that stopped running is not said to fail', async () => {
    pass(120, { done: 49, failed: 1 });
    pass(4, { done: 35, failed: 65 });
    clock.advance(4 * MINUTE_MS);
    expect((await found())[0]).to.match(
      /^Job type “charge-card” has not run since 02:04\. From 02:00 to 02:04, 260 /,
    );
    clock.advance(7 * MINUTE_MS);
    expect(await found()).to.deep.equal([]);
  });

  it('without a baseline is reported as such', async () => {
    pass(2, { done: 8, failed: 12 });
    expect(await found()).to.deep.equal([
      `Job type “charge-card” has been failing since the first recorded attempt at 00:00: 24 attempts failed, 60 % of the latest 40. ${allSucceeded} There is no baseline, because all of its recorded attempts, up to 24 hours back, are like this.`,
    ]);
  });

  it('that always fails a little is not reported', async () => {
    pass(180, { done: 14, failed: 6 });
    expect(await found()).to.deep.equal([]);
  });

  it('that always fails is reported', async () => {
    pass(180, { done: 0, failed: 20 });
    expect((await found())[0]).to.match(/has been failing since the first recorded attempt at 00:00/);
  });

  it('is judged in each queue by its attempts there, and on its page in all', async () => {
    pass(120, { done: 49, failed: 1 });
    pass(120, { done: 50, queue: 'mail' });
    pass(3, { done: 35, failed: 65 });
    expect((await found('payments'))[0]).to.include('195 attempts in this queue failed');
    expect(await found('mail')).to.deep.equal([]);
    expect(warnings(await readHealthOfType(storage, 'charge-card'))).to.deep.equal(await found());
  });

  it('among many that fail a little is not named, but all together are reported', async () => {
    const names = Array.from({ length: 40 }, (_each, index) => `type-${index}`);
    const passAll = (done: number, failed: number): void => {
      for (const name of names) {
        for (let attempt = 0; attempt < done + failed; attempt++)
          storage.timings.ended('q', name, attempt < failed ? 'failed' : 'done', 10);
      }
      clock.advance(MINUTE_MS);
    };
    for (let minute = 0; minute < 20; minute++) passAll(2, 0);
    passAll(1, 1);
    expect((await found())[0]).to.match(
      /^Jobs of several types have been failing since 00:20: 40 attempts failed/,
    );
  });

  for (const [what, before] of [
    ['', { done: 4 }],
    [', and failed earlier in the day', { done: 3, failed: 1 }],
  ] as const)
    it(`that fails${what} is found among many busier ones that always fail a little`, async () => {
      const passAll = (minutes: number, own: Attempts): void => {
        for (let minute = 0; minute < minutes; minute++) {
          for (let index = 0; index < 30; index++)
            for (let attempt = 0; attempt < 60; attempt++)
              storage.timings.ended('q', `noisy-${index}`, attempt < 3 ? 'retry' : 'done', 10);
          pass(1, own);
        }
      };
      passAll(20, before);
      passAll(100, { done: 4 });
      passAll(6, { done: 1, failed: 3 });
      expect((await found())[0]).to.match(
        /^Job type “charge-card” has been failing since about 02:00: 18 attempts/,
      );
    });

  it('that runs many times longer is reported with medians, and recovers', async () => {
    pass(120, { done: 30, ms: 200 });
    pass(3, { done: 30, ms: 4_100 });
    expect((await found())[0]).to.match(
      /^Job type “charge-card” has been running \d\d × longer since 02:00: median [34]\.\d s, before 1\d\d ms|2\d\d ms\./,
    );
    pass(1, { done: 50, ms: 200 });
    expect((await found())[0]).to.match(/^Job type “charge-card” is recovering: it runs (1|2)\d\d ms/);
    pass(1, { done: 50, ms: 200 });
    expect(await found()).to.deep.equal([]);
  });

  it('is named with its errors, what part of its jobs has them, and what to do about the jobs', async () => {
    const charge = defineJob({ name: 'charge-card', queue: 'payments', maxAttempts: 1 });
    let failures = 0;
    const server = new JobServer({
      storage,
      ...patientServer,
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      handlers: [
        handleJob(charge, () => {
          const error =
            ++failures > 9 ? new RangeError('too much') : new TypeError('the gateway refused the card');
          return Promise.reject(error);
        }),
      ],
    });
    await new JobClient(storage).enqueueMany(
      Array.from({ length: 12 }, () => ({ definition: charge, args: {} })),
    );
    await server.start();
    await eventually(
      () => storage.jobs.stateCounts(),
      (counts) => counts.failed === 12,
    );
    await server.stop();
    const { failing } = await findTypeHealth(storage);
    const [warning] = failingTypeWarnings(failing);
    expect(warning === undefined ? '' : textOf(warning)).to.include(
      '12 attempts failed, 100 % of the latest 12. 12 jobs that failed in the last 10 minutes have not succeeded since: 9 of these 12 had errors like TypeError: the gateway refused the card.',
    );
    const links = [failing, failing.map((type) => ({ ...type, errors: [] }))].map(
      (types) => failingTypeWarnings(types)[0]?.link,
    );
    expect(links).to.deep.equal(['jobs?state=failed&name=charge-card', 'types/charge-card']);
    const [pause, retry] = (['above', 'recovering'] as const).map(
      (state) =>
        failingTypeWarnings(failing.map((type) => ({ ...type, shift: { ...type.shift, state } })))[0]?.button,
    );
    expect(pause?.path).to.equal('types/charge-card/pause');
    expect(retry?.path).to.match(
      /^bulk\/confirm\?state=failed&name=charge-card&finished-after=.*&action=retry$/,
    );
  });

  it('costs two statements while all is well, and four if there is a suspect', async () => {
    let statements = 0;
    const counting = <Role extends object>(role: Role): Role =>
      new Proxy(role, {
        get: (target, method) => {
          const read = Reflect.get(target, method) as (...args: unknown[]) => unknown;
          return (...args: unknown[]): unknown => {
            statements++;
            return Reflect.apply(read, target, args);
          };
        },
      });
    const reader: Pick<DashboardReader, 'timings' | 'statistics'> = {
      timings: counting(storage.timings),
      statistics: counting(storage.statistics),
    };
    pass(120, { done: 49, failed: 1 });
    await findTypeHealth(reader);
    expect(statements).to.equal(2);
    pass(3, { done: 35, failed: 65 });
    statements = 0;
    await findTypeHealth(reader);
    expect(statements).to.equal(4);
  });
});

interface Attempts {
  readonly done: number;
  readonly failed?: number;
  /** How long each attempt runs, in milliseconds. */
  readonly ms?: number;
  readonly name?: string;
  readonly queue?: string;
  readonly wait?: { readonly waitedMs: number; readonly readyMs: number };
}
