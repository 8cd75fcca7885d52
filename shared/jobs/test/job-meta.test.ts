import { expect } from 'chai';
import { type JobMeta, readMeta, unreadableMeta } from '../src/storage.js';

const stored = (meta: unknown): JobMeta => meta as JobMeta;

describe('The stored metadata of a job', () => {
  it('is readable if no member is malformed', () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    expect(unreadableMeta({ tags: ['a'], parentIds: [], traceparent })).to.deep.equal([]);
    expect(unreadableMeta(null)).to.deep.equal([]);
  });

  it('names both members that are read from malformed parent ids', () => {
    for (const parentIds of ['a', [7, 'a'], {}])
      expect(unreadableMeta(stored({ parentIds }))).to.deep.equal(['parentId', 'parentIds']);
  });

  it('does not name the first parent if only another one is malformed', () => {
    const meta = stored({ parentIds: ['a', 7] });
    expect([readMeta(meta).parentId, unreadableMeta(meta)]).to.deep.equal(['a', ['parentIds']]);
  });

  it('names both members that are read from a malformed traceparent', () => {
    for (const traceparent of ['00-none', 7])
      expect(unreadableMeta(stored({ traceparent }))).to.deep.equal(['traceparent', 'traceId']);
  });

  it('shows the limit that applies if that of a concurrency key is malformed', () => {
    for (const [concurrencyLimit, limit] of [
      ['x', 1],
      [undefined, 1],
      [0, 1],
      [1e9, 10_000],
    ]) {
      const meta = stored({ concurrencyKey: 'k', concurrencyLimit });
      expect([readMeta(meta).concurrencyLimit, unreadableMeta(meta)]).to.deep.equal([
        limit,
        ['concurrencyLimit'],
      ]);
    }
  });

  it('shows no unique key that no job could have been given', () => {
    for (const unique of [
      'k',
      { key: '' },
      { key: 'k', periodMs: 0 },
      { key: 'k', states: ['x'] },
      { k: 1 },
    ]) {
      const meta = stored({ unique });
      expect([readMeta(meta).unique, unreadableMeta(meta)]).to.deep.equal([null, ['unique']]);
    }
  });

  it('names every member that is read from metadata that is not an object', () => {
    for (const meta of ['text', [], 7])
      expect(unreadableMeta(stored(meta))).to.have.members(Object.keys(readMeta(stored(meta))));
  });
});
