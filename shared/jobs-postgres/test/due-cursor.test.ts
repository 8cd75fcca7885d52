import { expect } from 'chai';
import { DueCursor } from '../src/maintain/due-cursor.js';

interface Seen {
  readonly snapshot: string;
  readonly at: string;
  readonly mark?: string;
}

/** Returns the cursor after polls that saw these snapshots and found no due job. */
const after = (...polls: readonly Seen[]): DueCursor =>
  polls.reduce(
    (cursor, { snapshot, at, mark = null }) => cursor.after({ snapshot, at, mark, due: new Map() }),
    DueCursor.start,
  );

describe('The cursor of due jobs', () => {
  it('starts at a mark once a later poll shows that everything before it is visible', () => {
    const cursor = after({ snapshot: '10:10:', at: '1', mark: '10' }, { snapshot: '11:11:', at: '2' });
    expect(cursor.defaultStart).to.equal('1');
  });

  it('does not move while transactions from before a mark are open', () => {
    const cursor = after({ snapshot: '10:10:', at: '1', mark: '12' }, { snapshot: '12:12:', at: '2' });
    expect(cursor.defaultStart).to.equal('-infinity');
  });

  it('moves back to before a mark for a transaction that had begun when it was set', () => {
    const cursor = after(
      { snapshot: '10:10:', at: '1', mark: '11' }, // transaction 10 was in progress, but this snapshot ends before 10
      { snapshot: '10:12:10', at: '2' },
    );
    expect([...cursor.inProgress]).to.deep.equal([['10', '-infinity']]);
  });

  it('moves back to a mark for a transaction that began after it', () => {
    const cursor = after(
      { snapshot: '10:10:', at: '1', mark: '10' },
      { snapshot: '11:13:11', at: '2' },
      { snapshot: '11:13:11', at: '3', mark: '13' },
      { snapshot: '11:14:11', at: '4' },
    );
    expect([cursor.defaultStart, ...cursor.inProgress]).to.deep.equal(['3', ['11', '1']]);
  });

  it('sets no mark while nobody writes', () => {
    const cursor = after({ snapshot: '10:10:', at: '1', mark: '10' }, { snapshot: '11:11:', at: '2' });
    expect(cursor.isMarkDue).to.equal(false);
  });

  it('sets another mark after others have written', () => {
    const cursor = after({ snapshot: '10:10:', at: '1', mark: '10' }, { snapshot: '12:12:', at: '2' });
    expect(cursor.isMarkDue).to.equal(true);
  });
});
