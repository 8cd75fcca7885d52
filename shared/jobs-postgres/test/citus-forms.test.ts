import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import pg from 'pg';
import type { TestDatabase } from '@longshore/test-support';
import { staticStatements } from '../src/connection/statement.js';
import {
  recordFirstFailures,
  selectErrorGroups,
  selectFailureBuckets,
} from '../src/statistics/error-groups.sql.js';
import { builtQueries } from './support/built-queries.js';
import { createClusterOfOne } from './support/cluster-of-one.js';
import { type Described, described } from './support/described.js';

const source = new URL('../src/', import.meta.url);

/** What a cluster cannot run in a query over its nodes: queues from an array, and a limit that a subquery computes for each. */
const unsupported = /\) as queue \(id\)|limit \(select [^)]*\) from [^)]* where queue_id = queue\.id/;

describe('The forms of statements for Citus', () => {
  let database: TestDatabase;
  let client: pg.Client;

  before(async () => {
    const files = await readdir(source, { recursive: true });
    await Promise.all(
      files.filter((file) => file.endsWith('.sql.ts')).map((file) => import(`../src/${file}`)),
    );
    await import('../src/index.js');
    database = await createClusterOfOne();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await database.drop();
  });

  it('have the parameters and columns of the forms for a single Postgres', async () => {
    const now = new Date();
    const daily = [
      selectErrorGroups(86_400_000, now),
      selectFailureBuckets(86_400_000, now),
      recordFirstFailures(300_000, now),
    ];
    const statements = [
      ...staticStatements(),
      ...daily.map((statement) => [statement.name, statement] as const),
    ];
    const pairs = statements.filter(([, { citus }]) => citus !== undefined);
    for (const [name, { text, citus = text }] of pairs)
      expectAlike(await described(client, citus), await described(client, text), name);
    expect(pairs.length).to.be.above(80);
  });

  it('leave no fragment that a cluster cannot run', () => {
    for (const [name, { text, citus = text }] of staticStatements())
      expect(citus, name).not.to.match(unsupported);
  });

  it('of searches have the parameters and columns of those for a single Postgres, in every shape', async () => {
    const usual = new Map(builtQueries('none'));
    const seen = new Set<string>();
    for (const [shape, query] of builtQueries('citus')) {
      const other = usual.get(shape);
      expect(query?.values, shape).to.deep.equal(other?.values);
      if (query === undefined || other === undefined || query.text === other.text || seen.has(query.text))
        continue;
      seen.add(query.text);
      expect(query.text, shape).not.to.match(unsupported);
      expectAlike(await described(client, query.text), await described(client, other.text), shape);
    }
    expect(seen.size).to.be.above(500);
  });
});

/** Statements whose rows are not read. */
const unread = 'longshore-summarize-times';

const { INT2, INT4, INT8 } = pg.types.builtins;

/** The types of integers, which accept the same parameters. */
const integers: ReadonlySet<number> = new Set([INT2, INT4, INT8]);

/** Expects that the second form of a statement accepts the same parameters, and returns at least the same columns. */
function expectAlike(second: Described, first: Described, name: string | undefined): void {
  const kinds = ({ parameters }: Described): readonly (number | string)[] =>
    parameters.map((type) => (integers.has(type) ? 'integer' : type));
  expect(kinds(second), name).to.deep.equal(kinds(first));
  if (name !== unread) expect(second.columns, name).to.include.deep.members(first.columns);
}
