import { createTestDatabase, patientStorage, type TestDatabase } from '@longshore/test-support';
import { defineResource, type Platform, tableStorage } from '@longshore/resources';
import { expect } from 'chai';
import pg from 'pg';
import Type from 'typebox';
import { type Answer, serve, type TestApi } from './support/api.js';

const item = Type.Object({ id: Type.Integer(), title: Type.String() });

const volumes = defineResource({ name: 'volumes', item }, tableStorage({ name: 'archive.volume' }));

/** A view in which reading a row beyond the first 10,000 exceeds the time limit of a search. */
const deeds = defineResource({ name: 'deeds', item }, tableStorage({ name: 'archive.deed', view: true }));

/** A view in which reading any row takes far longer than a test. */
const graves = defineResource({ name: 'graves', item }, tableStorage({ name: 'archive.grave', view: true }));

const tables = `
  create extension pg_trgm;
  create schema archive;
  create table archive.volume (id int primary key, title text not null);
  insert into archive.volume select n, 'Volume ' || n || case when n % 5000 = 0 then ' lantern' else '' end
  from generate_series(1, 10100) n;
  create function archive.read(id int, title text) returns text stable language plpgsql as $$
  begin
    if id > 10000 and current_setting('statement_timeout') = '1h' then
      raise query_canceled using message = 'as if the time limit had been reached';
    end if;
    return title;
  end $$;
  create function archive.dig(title text) returns text stable language plpgsql as $$
  begin
    perform pg_sleep(86400);
    return title;
  end $$;
  create view archive.deed as select id, archive.read(id, title) as title from archive.volume;
  create view archive.grave as select id, archive.dig(title) as title from archive.volume;
`;

async function migrate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(tables);
  await client.end();
}

describe('A search of a large table', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let api: TestApi;

  before(async () => {
    database = await createTestDatabase(migrate);
    pool = new pg.Pool({ connectionString: database.url, max: 2 });
    api = await serve({
      resources: [volumes, deeds],
      platform: platform(patientStorage.searchTimeoutMs),
    });
  });
  after(async () => {
    await api.close();
    await pool.end();
    await database.drop();
  });

  const platform = (searchTimeoutMs: number): Platform => ({ database: pool, searchTimeoutMs });
  const get = (path: string): Promise<Answer> => api.call(`/api/v1/${path}`);
  const idsIn = ({ body }: Answer): number[] => (body as { id: number }[]).map(({ id }) => id);

  it('is whole if all matches were compared', async () => {
    const answer = await get('volumes?q=lantren');
    expect(idsIn(answer)).to.deep.equal([5000, 10_000]);
    expect(answer.headers.get('x-total-count')).to.equal('2');
    expect(answer.headers.has('preference-applied')).to.equal(false);
  });

  it('states that it is partial if there are too many matches to rank them all', async () => {
    const { headers } = await get('volumes?q=volume&limit=5');
    expect(headers.get('preference-applied')).to.equal('count=estimated, search=partial');
  });

  it('finds all of them in the order of another sort', async () => {
    const answer = await get('volumes?q=volume&sort=-id&limit=3');
    expect(idsIn(answer)).to.deep.equal([10_100, 10_099, 10_098]);
    expect(answer.headers.get('preference-applied')).to.equal('count=estimated');
  });

  it('counts them all if asked to', async () => {
    const { headers } = await api.call('/api/v1/volumes?q=volume&limit=5', {
      headers: { prefer: 'count=exact' },
    });
    expect(headers.get('x-total-count')).to.equal('10100');
    expect(headers.get('preference-applied')).to.equal('count=exact, search=partial');
  });

  for (const sort of ['', '&sort=title']) {
    it(`that takes too long is answered from the first rows and states it${sort}`, async () => {
      const answer = await get(`deeds?q=lantern${sort}`);
      expect(idsIn(answer)).to.have.members([5000, 10_000]);
      expect(answer.headers.get('preference-applied')).to.equal('count=estimated, search=partial');
    });
  }

  it('ends at the time limit even if it has read no row', async () => {
    const impatient = await serve({ resources: [graves], platform: platform(1) });
    const answer = await impatient.call('/api/v1/graves?q=lantern');
    await impatient.close();
    expect(answer.codes).to.deep.equal([50304]);
  });
});
