import { maxSavedSearches } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { it } from 'mocha';
import type { Fixture } from './storage-under-test.js';

/** Defines the tests of saving, listing and deleting searches. */
export function savingSearches(fixture: Fixture): void {
  const search = { name: 'Failed mail', query: 'state=failed&queue=mail', savedBy: 'ann' };

  it('lists saved searches by name, and replaces one of the same name', async () => {
    const { savedSearches } = fixture.storage;
    expect(await savedSearches.save(search)).to.deep.equal({ outcome: 'saved', before: null });
    await savedSearches.save({ ...search, name: 'Another' });
    const [, before] = await savedSearches.list();
    expect(before).to.include(search);
    expect(before?.savedAt).to.be.a('date');
    const change = { ...search, query: 'state=failed', savedBy: 'bob' };
    expect(await savedSearches.save(change)).to.deep.equal({ outcome: 'saved', before });
    const listed = await savedSearches.list();
    expect(listed.map(({ name, query, savedBy }) => [name, query, savedBy])).to.deep.equal([
      ['Another', search.query, 'ann'],
      ['Failed mail', 'state=failed', 'bob'],
    ]);
    expect(await savedSearches.delete('Failed mail')).to.deep.equal(listed[1]);
    expect(await savedSearches.delete('Failed mail')).to.equal(null);
    await savedSearches.delete('Another');
  });

  it('lists saved searches in the order of an alphabet', async () => {
    const { savedSearches } = fixture.storage;
    for (const name of ['b', 'Ä', 'a', 'Z', 'B', 'z']) await savedSearches.save({ ...search, name });
    const names = (await savedSearches.list()).map(({ name }) => name);
    for (const name of names) await savedSearches.delete(name);
    expect(names).to.deep.equal(['a', 'Ä', 'b', 'B', 'z', 'Z']);
  });

  it('stores as many searches as the limit, even if they are saved concurrently', async () => {
    const { savedSearches } = fixture.storage;
    const names = Array.from({ length: maxSavedSearches }, (_each, index) => `many ${index}`);
    for (const name of names.slice(2)) await savedSearches.save({ ...search, name });
    const results = await Promise.all(
      ['one', 'two', 'three', 'four'].map((name) => savedSearches.save({ ...search, name })),
    );
    expect(results.filter(({ outcome }) => outcome === 'saved')).to.have.length(2);
    expect((await savedSearches.save({ ...search, name: 'many 5' })).outcome).to.equal('saved');
    for (const { name } of await savedSearches.list()) await savedSearches.delete(name);
  });

  it('stores the audit entry of a change, or changes nothing', async () => {
    const { savedSearches, audit } = fixture.storage;
    const fail = (): never => {
      throw new TypeError('no entry');
    };
    const refusal = await savedSearches.save(search, { audit: fail }).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(TypeError);
    expect(await savedSearches.list()).to.deep.equal([]);
    const entry = { who: 'ann', action: 'searches/save', target: 'Failed mail', filter: null, count: 1 };
    await savedSearches.save(search, { audit: () => entry });
    await savedSearches.delete(search.name, {
      audit: (before) => ({ ...entry, action: 'searches/delete', count: before === null ? 0 : 1 }),
    });
    const [deleted, saved] = await audit.list({ limit: 2, target: 'Failed mail' });
    expect([deleted?.action, deleted?.count, saved?.action]).to.deep.equal([
      'searches/delete',
      1,
      'searches/save',
    ]);
  });

  it('rejects texts out of bounds', async () => {
    const { savedSearches } = fixture.storage;
    for (const change of [{ name: '' }, { name: 'a'.repeat(101) }, { query: '' }, { query: 'a\0b' }]) {
      const refusal = await savedSearches.save({ ...search, ...change }).catch((error: unknown) => error);
      expect(refusal).to.be.instanceOf(RangeError);
    }
  });
}
