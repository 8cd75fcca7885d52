import { type JobOrder, jobOrderMembers } from '@longshore/jobs/storage';
import { expect } from 'chai';

/** Returns the numbers of the parameters that a statement uses, such as 1 for `$1`. */
const parametersOf = (text: string): readonly number[] =>
  [...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));

describe('The forms of statements for Citus', () => {
  let forms: readonly { readonly name: string; readonly usual: string; readonly text: string }[];

  before(async () => {
    await import('../src/index.js'); // defines all statements
    const { staticStatements } = await import('../src/connection/statement.js');
    const { citusForm } = await import('../src/citus/forms.js');
    // `citusForm` throws if a form is meant to replace a fragment that the single-node statement no longer contains.
    forms = [...staticStatements()].map(([name, usual]) => {
      const { text } = citusForm({ name, text: usual });
      return { name, usual, text };
    });
  });

  it('have no parameters that the usual statements lack', () => {
    for (const { name, usual, text } of forms)
      expect(parametersOf(usual), name).to.include.members(parametersOf(text));
  });

  it('of searches leave no fragment that Citus cannot run', async () => {
    const { searchForm } = await import('../src/citus/searches.js');
    const search = (queues: string): string =>
      searchForm({
        text: `select * from unnest(${queues}) as queue (id), lateral (select * from longshore.job) as job`,
      });
    expect(search('$1::integer[]')).to.contain('where queue_id = any($1::integer[])');
    expect(() => search('$1::bigint[]')).to.throw('") as queue (id)" was not replaced');
  });

  it('of lists in any order leave none either', async () => {
    const { searchForm } = await import('../src/citus/searches.js');
    const { sortedJobs } = await import('../src/read/sorted-jobs.sql.js');
    for (const by of jobOrderMembers)
      for (const filter of [{}, { name: ['work'] }, { q: 'word' }]) {
        const holding = { queues: 2, jobs: 9, most: 5, ids: '{1,2}' };
        const scope = { filter, now: new Date(), queueIds: undefined, holding: () => holding };
        const order: JobOrder = [
          { by, descending: true },
          { by: 'id', descending: true },
        ];
        const place = [null, '01890000-0000-7000-8000-000000000000'];
        const page = { order, reversed: false, limit: 20, offset: 0, after: place };
        const { text = '' } = sortedJobs({ ...scope, ...page }) ?? {};
        expect(searchForm({ text })).not.to.contain('as queue (id)');
      }
  });

  it('are the statements themselves where Citus can run these', () => {
    expect(forms.filter(({ usual, text }) => usual === text)).to.have.length.above(forms.length / 2);
  });
});
