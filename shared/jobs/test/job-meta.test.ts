import { expect } from 'chai';
import { type JobMeta, readMeta, unreadableMeta } from '../src/storage/index.js';

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

  it('names the trace id if the traceparent is malformed', () => {
    for (const traceparent of ['00-none', 7])
      expect(unreadableMeta(stored({ traceparent }))).to.deep.equal(['traceId']);
  });

  it('names every member that is read from metadata that is not an object', () => {
    for (const meta of ['text', [], 7])
      expect(unreadableMeta(stored(meta))).to.have.members(Object.keys(readMeta(stored(meta))));
  });
});
