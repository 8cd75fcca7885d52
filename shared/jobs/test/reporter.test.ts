import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { MemoryStorage, StorageUnavailableError } from '../src/index.js';
import type { Claim, JobReport } from '../src/storage/index.js';
import type { AttemptReport } from '../src/server/attempt-report.js';
import { silentLogger } from '../src/server/logger.js';
import { Reporter } from '../src/server/reporter.js';

/** Records reports. Rejects reports while {@link failure} is set. */
class ReportStorage extends MemoryStorage {
  failure: Error | null = null;
  refused = 0;
  /** How long each write takes, in milliseconds. */
  takesMs = 0;
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
    if (this.takesMs > 0) await new Promise((resolve) => setTimeout(resolve, this.takesMs));
    return this.stale;
  }
}

const claimOf = (jobId: string): Claim => ({ jobId, queue: 'default', serverId: 'server', attempt: 1 });

describe('The reporter', () => {
  let storage: ReportStorage;
  let reporter: Reporter;
  let report: AttemptReport;

  beforeEach(() => {
    storage = new ReportStorage();
    reporter = new Reporter(storage, { maxLines: 1_000, maxLineBytes: 4_096 }, silentLogger);
    report = reporter.open(claimOf('one'));
  });

  const written = (): JobReport[] => storage.taken.flat();

  it('writes progress at most once a second, and the last one at the end', async () => {
    report.progress(1);
    await eventually(() => storage.taken.length === 1);
    for (let percent = 2; percent <= 50; percent++) report.progress(percent);
    report.log.info('a line'); // log lines are written before progress is due again
    await eventually(() => storage.taken.length === 2);
    await reporter.flush(report);
    expect(written().map(({ progress }) => progress?.percent ?? null)).to.deep.equal([1, null, 50]);
  });

  it('gathers the lines of all attempts into one write', async () => {
    const other = reporter.open(claimOf('other'));
    report.log.info('first');
    other.log.info('second');
    report.log.info('third');
    await eventually(() => storage.taken.length > 0);
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
    await eventually(() => storage.refused > 1);
    storage.failure = null;
    await flushed;
    expect(written()[0]?.lines.map(({ message }) => message)).to.deep.equal(['a line']);
  });

  it('continues after a write that takes longer than gathering the next', async () => {
    storage.takesMs = 600; // longer than the time for which log lines are buffered
    report.log.info('first');
    await eventually(() => storage.taken.length === 1);
    report.log.info('second');
    await eventually(() => storage.taken.length === 2);
    report.log.info('third');
    await eventually(() => written().flatMap(({ lines }) => lines).length === 3);
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
    await eventually(() => storage.taken.length === 1);
    later.log.info('second');
    await eventually(() => storage.taken.length === 2);
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
