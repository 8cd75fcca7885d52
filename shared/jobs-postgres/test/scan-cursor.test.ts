import { expect } from 'chai';
import { CommitHorizon } from '../src/claim/commit-horizon.js';
import { ScanCursor } from '../src/claim/scan-cursor.js';

const lastSeq = 2n ** 63n - 1n;
const from = (priority: number, after: bigint) => ({ priority, after, upTo: lastSeq });

describe('A scan cursor', () => {
  it('starts after the last job claimed', () => {
    const cursor = new ScanCursor([0]);
    cursor.advance('hint', { claimed: [{ priority: 0, seq: 7n }], exhausted: false }, 0n);
    expect(cursor.ranges('hint')).to.deep.equal([from(0, 7n)]);
  });

  it('returns from the floor to positions that were not visible yet', () => {
    const cursor = new ScanCursor([0]);
    cursor.advance('floor', { claimed: [{ priority: 0, seq: 9n }], exhausted: true }, 4n);
    expect(cursor.ranges('floor')).to.deep.equal([from(0, 4n)]);
  });

  it('passes positions without jobs once all of them are visible', () => {
    const cursor = new ScanCursor([0, 5]);
    cursor.advance('floor', { claimed: [], exhausted: true }, 1_000n);
    expect(cursor.ranges('hint')).to.deep.equal([from(0, 1_000n), from(5, 1_000n)]);
  });

  it('does not pass less urgent jobs that a full claim did not reach', () => {
    const cursor = new ScanCursor([-1, 0, 5]);
    cursor.advance('floor', { claimed: [{ priority: 0, seq: 8n }], exhausted: false }, 1_000n);
    expect(cursor.ranges('floor')).to.deep.equal([from(-1, 1_000n), from(0, 8n), from(5, 0n)]);
  });

  it('ignores a scan of a paused queue', () => {
    const cursor = new ScanCursor([0]);
    cursor.advance('floor', { claimed: [], exhausted: false }, 1_000n);
    expect(cursor.ranges('floor')).to.deep.equal([from(0, 0n)]);
  });

  it('scans a gap that it has passed, until the gap has been scanned to its end', () => {
    const cursor = new ScanCursor([0]);
    cursor.advance('floor', { claimed: [], exhausted: true }, 1_000n);
    cursor.addGap({ priority: 0, after: 10n, upTo: 20n });
    expect(cursor.ranges('hint')).to.deep.equal([{ priority: 0, after: 10n, upTo: 20n }, from(0, 1_000n)]);
    cursor.advance('hint', { claimed: [{ priority: 0, seq: 15n }], exhausted: false }, 1_000n);
    expect(cursor.ranges('hint')).to.have.length(2);
    cursor.advance('hint', { claimed: [{ priority: 0, seq: 20n }], exhausted: false }, 1_000n);
    expect(cursor.ranges('hint')).to.deep.equal([from(0, 1_000n)]);
  });

  it('scans places that became known during a scan that found nothing', () => {
    const cursor = new ScanCursor([0]);
    cursor.advance('floor', { claimed: [], exhausted: true }, 1_000n);
    const ranges = cursor.ranges('floor');
    cursor.addGap({ priority: 0, after: 10n, upTo: 20n });
    cursor.learn([5]);
    cursor.advance('floor', { claimed: [], exhausted: true }, 2_000n, ranges);
    expect(cursor.ranges('floor')).to.deep.equal([
      { priority: 0, after: 10n, upTo: 20n },
      from(0, 2_000n),
      from(5, 0n),
    ]);
  });

  it('scans a new priority from the beginning', () => {
    const cursor = new ScanCursor([0]);
    cursor.advance('floor', { claimed: [], exhausted: true }, 1_000n);
    cursor.learn([0, -3]);
    expect(cursor.ranges('hint')).to.deep.equal([from(-3, 0n), from(0, 1_000n)]);
  });
});

describe('The commit horizon', () => {
  it('reaches a position once every transaction that could have taken an earlier one has ended', () => {
    const horizon = new CommitHorizon();
    horizon.observe('100:103:100,102', 50n, 103n, 0);
    horizon.observe('102:110:102,109', 60n, 110n, 100);
    expect(horizon.place).to.equal(0n);
    horizon.observe('109:120:109', 70n, 120n, 200);
    expect(horizon.place).to.equal(0n);
    horizon.observe('121:121:', 80n, 121n, 300);
    expect(horizon.place).to.equal(60n);
  });

  it('waits for a transaction that no snapshot lists because none with a greater number has ended', () => {
    const horizon = new CommitHorizon();
    horizon.observe('101:101:', 10n, null, 0);
    horizon.observe('101:101:', 10n, null, 50);
    horizon.observe('101:101:', 10n, 102n, 100); // transaction 101 has taken a position but not committed
    horizon.observe('101:103:101', 10n, 103n, 150);
    expect(horizon.place).to.equal(0n);
    horizon.observe('104:104:', 10n, 104n, 200);
    expect(horizon.place).to.equal(10n);
  });

  it('waits for a transaction that took its position before it got its number', () => {
    const horizon = new CommitHorizon();
    horizon.observe('100:100:', 10n, 100n, 0); // transaction 101 has taken position 10, but has no id yet
    horizon.observe('101:101:', 10n, 102n, 20);
    horizon.observe('101:103:101', 10n, 103n, 40);
    expect(horizon.place).to.equal(0n);
  });

  it('does not wait for a long transaction whose positions are recorded as gaps', () => {
    const horizon = new CommitHorizon();
    horizon.observe('100:101:100', 50n, 101n, 0);
    horizon.observe('100:200:100', 60n, 200n, 4_000);
    expect(horizon.place).to.equal(0n);
    horizon.observe('100:300:100', 70n, 300n, 6_000);
    expect(horizon.place).to.equal(50n);
    horizon.observe('100:400:100', 70n, 400n, 6_100);
    expect(horizon.place).to.equal(60n);
  });
});
