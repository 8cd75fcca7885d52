import type { BriefJob } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { traitsOf, traitText } from '../src/diagnosis/traits.js';
import { job } from './situation.js';

const jobs = (count: number, members: Partial<BriefJob>): BriefJob[] =>
  Array.from({ length: count }, () => ({
    ...job(members),
    argsOmitted: false,
    lastFailure: { serverId: members.serverId ?? 'unknown', at: new Date(0) },
  }));
const versions = new Map([
  ['old', '2.3.9'],
  ['new', '2.4.0'],
]);

describe('what failed jobs have in common', () => {
  const texts = (failures: readonly BriefJob[], successes: readonly BriefJob[]): string[] =>
    traitsOf(failures, successes, versions).map(traitText);

  it('is the version that was deployed to some servers', () => {
    const failures = jobs(40, { serverId: 'new', tags: ['eu'] });
    const successes = [...jobs(58, { serverId: 'old', tags: ['eu'] }), ...jobs(2, { serverId: 'new' })];
    expect(texts(failures, successes)).to.deep.equal([
      'All of the latest 40 failures have version 2.4.0, and 2 of the latest 60 successes since the type began to fail.',
    ]);
  });

  it('is no version if those of the successes are unknown', () => {
    const failures = jobs(40, { serverId: 'new' });
    expect(texts(failures, jobs(60, { serverId: 'long ago' }))).to.deep.equal([]);
  });

  it('is a tag or a key, the clearest first', () => {
    const failures = [
      ...jobs(40, { tags: ['customer:7'], concurrencyKey: 'eu' }),
      ...jobs(10, { tags: ['x'] }),
    ];
    const successes = [...jobs(50, {}), ...jobs(10, { concurrencyKey: 'eu' })];
    expect(texts(failures, successes)).to.deep.equal([
      '40 of the latest 50 failures have tag customer:7, and none of the latest 60 successes since the type began to fail.',
      '40 of the latest 50 failures have key eu, and 10 of the latest 60 successes since the type began to fail.',
    ]);
  });

  it('is named once if it is several things that always occur together', () => {
    const failures = jobs(40, { tags: ['customer:7'], concurrencyKey: 'customer:7' });
    expect(texts(failures, jobs(60, {}))).to.have.length(1);
  });

  it('is unknown if successes have it, too, or if there are too few to tell', () => {
    const failures = jobs(40, { tags: ['eu'], serverId: 'new' });
    expect(texts(failures, jobs(60, { tags: ['eu'], serverId: 'new' }))).to.deep.equal([]);
    expect(texts(failures, jobs(3, {}))).to.deep.equal([]);
    expect(texts(failures, [])).to.deep.equal([]);
    expect(texts(jobs(3, { tags: ['eu'] }), jobs(60, {}))).to.deep.equal([]);
  });

  it('is not what only a minority of them has', () => {
    const failures = [...jobs(20, { tags: ['vip'] }), ...jobs(30, {})];
    expect(texts(failures, jobs(100, {}))).to.deep.equal([]);
  });
});
