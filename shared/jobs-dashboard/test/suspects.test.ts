import { MemoryStorage } from '@longshore/jobs';
import { ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import { findTypeHealth, readHealthOfType, type TypeHealth } from '../src/diagnosis/type-health.js';
import { randomOf } from './synthetic-history.js';

const MINUTE_MS = 60_000;
/** `HISTORIES=1000` judges that many, and `SEED=7` others. */
const histories = Number(process.env['HISTORIES'] ?? 90);
const firstSeed = Number(process.env['SEED'] ?? 0);

/** A stretch of a history in which nothing changes. */
interface Stretch {
  readonly minutes: number;
  /** Attempts per minute. */
  readonly rate: number;
  /** The share of attempts that fail. */
  readonly failing: number;
  /** How long attempts run, and how long they wait, in milliseconds. */
  readonly runMs: number;
  readonly waitMs: number;
  /** How many times longer than `runMs` some attempts run, and their share. */
  readonly longer: number;
  readonly part: number;
}

/** Draws a history that is usual at first and between one to four anomalies. */
function drawStretches(random: () => number): Stretch[] {
  const pick = (least: number, most: number): number => least * (most / least) ** random();
  const usual = {
    rate: pick(1, 30),
    failing: 0.05 * random(),
    runMs: pick(20, 5_000),
    waitMs: pick(5, 20_000),
    longer: 1,
    part: 1,
  };
  const stretches: Stretch[] = [{ ...usual, minutes: pick(10, 300) }];
  for (let left = 1 + Math.floor(4 * random()); left > 0; left--) {
    const anomalies: readonly Partial<Stretch>[] = [
      { failing: pick(0.2, 1) },
      { longer: pick(3, 50) },
      { longer: pick(8, 60), part: pick(0.07, 0.5) },
      { waitMs: usual.waitMs * pick(3, 50) },
      { rate: usual.rate * pick(2, 8) },
    ];
    const anomaly = anomalies[Math.floor(anomalies.length * random())];
    stretches.push({ ...usual, ...anomaly, minutes: pick(2, 40) }, { ...usual, minutes: pick(1, 30) });
  }
  return stretches;
}

/** Names what is said about the type. */
function kindsIn({ failing, slow }: TypeHealth): string[] {
  return [...failing.map(() => 'failing'), ...slow.map(({ slowness }) => slowness.kind)];
}

describe('the overview, which reads the histories only of suspects', () => {
  it(`finds what the page of a job type finds, in ${histories} histories`, async function () {
    this.timeout(120_000 + 1_000 * histories);
    const missed: string[] = [];
    let found = 0;
    for (let seed = firstSeed; seed < firstSeed + histories; seed++) {
      const random = randomOf(seed);
      const clock = new ManualClock();
      const storage = new MemoryStorage({ clock });
      const spread = 1 + 2 * random();
      const around = (ms: number): number => ms * spread ** (2 * random() - 1);
      const passMinute = ({ rate, failing, runMs, waitMs, longer, part }: Stretch): void => {
        for (let attempts = rate + random(); attempts >= 1; attempts--) {
          const waitedMs = around(waitMs);
          storage.timings.started('q', 't', { waitedMs, readyMs: waitedMs });
          const isLonger = random() < part;
          const outcome = random() < failing ? 'retry' : 'done';
          storage.timings.ended('q', 't', outcome, around(isLonger ? runMs * longer : runMs));
        }
        storage.timings.store();
        clock.advance(MINUTE_MS);
      };
      for (const [index, stretch] of drawStretches(random).entries())
        for (let minute = 0; minute < stretch.minutes; minute++) {
          passMinute(stretch);
          if (index === 0 || minute % 2 === 1) continue;
          const onPage = kindsIn(await readHealthOfType(storage, 't'));
          const onOverview = kindsIn(await findTypeHealth(storage));
          found += onPage.length;
          const lost = onPage.filter((kind) => !onOverview.includes(kind));
          if (lost.length > 0)
            missed.push(`seed ${seed}, stretch ${index}, minute ${minute}: ${lost.join()}`);
        }
      await storage.close();
    }
    if (process.env['HISTORIES'] !== undefined)
      process.stdout.write(`${found} found, missed: ${missed.length}\n`);
    expect(missed).to.deep.equal([]);
    expect(found).to.be.greaterThan(histories);
  });
});
