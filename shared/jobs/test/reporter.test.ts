import { eventually, ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import { MemoryStorage, StorageUnavailableError } from '../src/index.js';
import type { Claim, JobReport } from '../src/storage.js';
import { AttemptReport } from '../src/server/attempt-report.js';
import { silentLogger } from '../src/server/logger.js';
import { Reporter } from '../src/server/reporter.js';

/** Records reports. Rejects reports while {@link failure} is set. */
class ReportStorage extends MemoryStorage {
  failure: Error | null = null;
  refused = 0;
  /** What each write waits for. */
  held: Promise<void> = Promise.resolve();
  stale: Claim[] = [];
  readonly taken: (readonly JobReport[])[] = [];

  constructor() {
    super();
    this.reports.report = (reports) => this.#take(reports);
  }

  async #take(reports: readonly JobReport[]): Promise<Claim[]> {
    if (this.failure !== null) {
      this.refused++;
      throw this.failure;
    }
    this.taken.push(reports);
    await this.held;
    return this.stale;
  }
}

const bounds = { maxLines: 1_000, maxLineBytes: 4_096 };

const claimOf = (jobId: string): Claim => ({ jobId, queue: 'default', serverId: 'server', attempt: 1 });

describe('The reporter', () => {
  let storage: ReportStorage;
  let reporter: Reporter;
  let report: AttemptReport;

  beforeEach(() => {
    storage = new ReportStorage();
    reporter = new Reporter(storage, bounds, silentLogger);
    report = reporter.open(claimOf('one'));
  });

  const written = (): JobReport[] => storage.taken.flat();

  /** Waits until there have been this many writes. */
  async function taken(writes: number, { taken }: ReportStorage = storage): Promise<void> {
    await eventually(
      () => taken.length,
      (count) => count >= writes,
    );
  }

  it('writes the first progress while the handler runs, and the last one at the end', async () => {
    report.progress(1);
    await taken(1);
    for (let percent = 2; percent <= 50; percent++) report.progress(percent);
    await reporter.flush(report);
    const percents = written().map(({ progress }) => progress?.percent);
    expect([percents[0], percents.at(-1)]).to.deep.equal([1, 50]);
  });

  it('writes progress at most once a second until the end, and log lines whenever there are any', () => {
    const clock = new ManualClock();
    const one = new AttemptReport(claimOf('one'), bounds, clock, () => undefined, clock.now);
    const write = (): unknown => {
      const next = one.take();
      if (next !== null) one.written(next);
      return next && [next.progress?.percent ?? null, next.lines.length];
    };
    one.progress(1);
    expect(write()).to.deep.equal([1, 0]);
    one.progress(2);
    one.log.info('a line');
    expect(write()).to.deep.equal([null, 1]);
    clock.advance(999);
    expect(write()).to.equal(null);
    clock.advance(1);
    expect(write()).to.deep.equal([2, 0]);
    one.progress(3);
    expect(write()).to.equal(null);
    one.end();
    expect(write()).to.deep.equal([3, 0]);
  });

  it('gathers the lines of all attempts into one write', async () => {
    const other = reporter.open(claimOf('other'));
    report.log.info('first');
    other.log.info('second');
    report.log.info('third');
    await taken(1);
    expect(storage.taken).to.have.length(1);
    expect(written().map(({ lines }) => lines.length)).to.deep.equal([2, 1]);
  });

  it('writes many lines without waiting for more', () => {
    for (let line = 0; line < 500; line++) report.log.info('a line');
    expect(written()[0]?.lines).to.have.length(500);
  });

  it('keeps reports until an unreachable storage returns', async () => {
    storage.failure = new StorageUnavailableError('away');
    report.log.info('a line');
    const flushed = reporter.flush(report);
    await eventually(
      () => storage.refused,
      (times) => times > 1,
    );
    storage.failure = null;
    await flushed;
    expect(written()[0]?.lines.map(({ message }) => message)).to.deep.equal(['a line']);
  });

  it('continues after a write that takes longer than gathering the next', async () => {
    let release = (): void => undefined;
    storage.held = new Promise((resolve) => {
      release = resolve;
    });
    report.log.info('first');
    await taken(1);
    report.log.info('second');
    // Another reporter starts to gather later, for the same time. Once it writes, the time for the second line is over.
    const other = new ReportStorage();
    new Reporter(other, bounds, silentLogger).open(claimOf('other')).log.info('later');
    await taken(1, other);
    expect(storage.taken).to.have.length(1);
    release();
    await taken(2);
    report.log.info('third');
    await taken(3);
    const messages = written().flatMap(({ lines }) => lines.map(({ message }) => message));
    expect(messages).to.deep.equal(['first', 'second', 'third']);
  });

  it('drops reports that cannot be stored rather than delay the outcome', async () => {
    storage.failure = new TypeError('not storable');
    report.log.info('a line');
    await reporter.flush(report);
    expect(report.isPending).to.equal(false);
  });

  it('writes nothing more for an attempt whose lease was lost', async () => {
    storage.stale = [report.claim];
    report.log.info('a line');
    await reporter.flush(report);
    report.log.info('another');
    await reporter.flush(report);
    expect(storage.taken).to.have.length(1);
  });

  it('continues with a later attempt of a job whose earlier one was lost', async () => {
    const later = reporter.open({ ...claimOf('one'), attempt: 2 });
    storage.stale = [claimOf('one')];
    report.log.info('lost');
    later.log.info('first');
    await taken(1);
    later.log.info('second');
    await taken(2);
    expect(written().map(({ claim, lines }) => [claim.attempt, lines[0]?.message])).to.deep.equal([
      [1, 'lost'],
      [2, 'first'],
      [2, 'second'],
    ]);
  });

  it('ignores what a handler reports after its attempt has ended', async () => {
    await reporter.flush(report);
    report.log.info('too late');
    report.progress(100);
    expect(report.isPending).to.equal(false);
  });
});
