import { expect } from 'chai';
import { type Change, changesBefore } from '../src/diagnosis/changes.js';

const minute = Date.UTC(2026, 2, 2, 14, 5);

/** A change this many seconds after 14:05. */
function changeAt(seconds: number, change: Partial<Change> = {}): Change {
  const at = new Date(minute + seconds * 1_000);
  return { at, kind: 'action', text: `at ${seconds}`, subjects: null, isRestriction: false, ...change };
}

/** The texts of the changes that are named for a condition that began this many seconds after 14:05. */
function named(changes: readonly Change[], link: string, seconds = 30): string[] {
  const since = new Date(minute + seconds * 1_000);
  const newestFirst = changes.toSorted((one, other) => other.at.getTime() - one.at.getTime());
  return changesBefore({ since, link }, { changes: newestFirst }).map(({ text }) => text);
}

describe('what changed just before a warning', () => {
  const mail = [{ queue: 'mail' }];

  it('is named newest first, from ten minutes before', () => {
    const changes = [-1_000, -500, 10].map((at) => changeAt(at));
    expect(named(changes, 'queues/mail')).to.deep.equal(['at 10', 'at -500']);
  });

  it('contains the latest deployment, however many other changes there are', () => {
    const deployment = (at: number): Change => changeAt(at, { kind: 'deployment' });
    const limits = [1, 2, 3, 4].map((at) => changeAt(at, { subjects: mail, isRestriction: true }));
    for (const link of ['queues/mail', 'jobs?state=failed&name=charge-card'])
      expect(named([deployment(-20), deployment(-10), ...limits], link)).to.deep.equal([
        'at 4',
        'at 3',
        'at -10',
      ]);
  });

  it('of a warning that links to a list of jobs concerns their type', () => {
    const changes = [
      changeAt(1, { subjects: [{ name: 'other' }] }),
      changeAt(2, { subjects: [{ name: 'charge-card' }] }),
    ];
    expect(named(changes, 'jobs?state=failed&name=charge-card')).to.deep.equal(['at 2']);
    expect(named([changeAt(1, { subjects: [{ queue: 'other' }] })], 'jobs?queue=mail&key=a')).to.deep.equal(
      [],
    );
  });

  it('contains no change of another queue, nor of a recurring job', () => {
    const changes = [changeAt(1, { subjects: [{ queue: 'other' }] }), changeAt(2, { subjects: [] })];
    expect(named(changes, 'queues/mail')).to.deep.equal([]);
    expect(named(changes, 'servers')).to.have.length(2);
  });

  it('contains the limit of its queue rather than later changes that can concern all queues', () => {
    const limit = changeAt(-300, { subjects: mail, isRestriction: true, text: 'limit' });
    const changes = [limit, ...[-4, -3, -2, -1].map((at) => changeAt(at))];
    expect(named(changes, 'queues/mail')).to.deep.equal(['at -1', 'at -2', 'limit']);
  });

  it('contains the limit of a queue that a job type may be in rather than what resumed another', () => {
    const limit = changeAt(-300, { subjects: mail, isRestriction: true, text: 'limit' });
    const changes = [limit, ...[-4, -3, -2, -1].map((at) => changeAt(at, { subjects: [{ queue: 'x' }] }))];
    expect(named(changes, 'types/send')).to.include('limit');
  });

  it('contains nothing that happened after a beginning that is known to the millisecond', () => {
    expect(named([changeAt(31, { kind: 'deployment' })], 'queues/mail')).to.deep.equal([]);
  });

  it('contains what happened within the minute if no more of the beginning is known, but no remedies', () => {
    const changes = [
      changeAt(20, { kind: 'deployment', text: 'deployed' }),
      changeAt(30, { isRestriction: true, text: 'paused' }),
      changeAt(40, { text: 'cancelled' }),
    ];
    expect(named(changes, 'types/send', 0)).to.deep.equal(['paused', 'deployed']);
  });
});
