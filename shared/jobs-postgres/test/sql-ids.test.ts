import { firstIdOf } from '@longshore/jobs/storage';
import { during, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { createStoreDatabase } from './support/store-database.js';

/** Tests `longshore.new_id()`, the id generator for jobs that are enqueued with SQL. */
describe('An id generated in SQL', () => {
  let database: TestDatabase;
  let ids: string[];
  let from: Date;
  let until: Date;

  before(async () => {
    database = await createStoreDatabase();
    const sessions = Array.from({ length: 4 }, () => new pg.Client(database.url));
    await Promise.all(sessions.map((session) => session.connect()));
    const made = await during(() =>
      Promise.all(
        sessions.map((session) =>
          session.query<{ id: string }>('select longshore.new_id() as id from generate_series(1, 20000)'),
        ),
      ),
    );
    ({ from, until } = made);
    ids = made.result.flatMap(({ rows }) => rows.map(({ id }) => id));
    await Promise.all(sessions.map((session) => session.end()));
  });

  after(() => database.drop());

  it('is a version 7 UUID with the current time', () => {
    const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(ids.filter((id) => !uuid7.test(id))).to.deep.equal([]);
    // SQL rounds the time, possibly to the next millisecond.
    const [first, last] = [firstIdOf(from), firstIdOf(new Date(until.getTime() + 2))];
    expect(ids.every((id) => id >= first && id < last)).to.equal(true);
  });

  it('is unique across sessions that generate ids concurrently', () => {
    expect(new Set(ids).size).to.equal(80_000);
  });

  it('has 74 random bits', () => {
    const columns = Array.from({ length: 80 }, () => 0);
    for (const id of ids) {
      const tail = BigInt(`0x${id.slice(14).replaceAll('-', '')}`);
      for (let bit = 0; bit < 80; bit++)
        if (((tail >> BigInt(bit)) & 1n) === 1n) columns[bit] = (columns[bit] ?? 0) + 1;
    }
    const random = columns.filter((ones) => ones > 0.45 * ids.length && ones < 0.55 * ids.length);
    expect(random).to.have.length(74);
  });
});
