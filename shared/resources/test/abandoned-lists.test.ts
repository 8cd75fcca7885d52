import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { type Library, serveLibrary } from './support/library.js';

describe('Lists whose callers have left', () => {
  let library: Library;
  let blocker: pg.Client;

  before(async () => {
    library = await serveLibrary();
    blocker = new pg.Client({ connectionString: library.database.url });
    await blocker.connect();
    await blocker.query('begin; lock table library.book in access exclusive mode');
  });

  after(async () => {
    await blocker.end();
    await library.close();
  });

  for (const query of ['', '?q=emma'])
    it(`return their connections to the pool although a lock holds their statements: /books${query}`, async () => {
      const left = new AbortController();
      const lists = Array.from({ length: library.pool.options.max }, () =>
        fetch(`${library.url}/api/v1/books${query}`, { signal: left.signal }).catch(
          (error: unknown) => error,
        ),
      );
      await eventually(() => library.pool.totalCount - library.pool.idleCount === lists.length);
      left.abort();
      expect(await Promise.all(lists)).to.deep.equal(lists.map((): unknown => left.signal.reason));
      expect((await library.call('/api/v1/authors')).status).to.equal(200);
      expect(library.incidents).to.deep.equal([]);
    });
});
