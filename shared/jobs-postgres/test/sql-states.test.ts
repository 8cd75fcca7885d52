import { createTestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { meaningOf, type SqlStateKind } from '../src/connection/sql-states.js';

/** SQLSTATEs that some version from 15 on has, but not all. */
const ofSomeVersions = ['10608', '25P04', '58P03', '72000'];

/** Reads the SQLSTATEs in the manual of the running Postgres, which is generated from a file that it is installed with. */
async function statesOfManual(): Promise<string[]> {
  const database = await createTestDatabase();
  const client = new pg.Client(database.url);
  await client.connect();
  const { rows } = await client.query<{ text: string }>(
    "select pg_read_file(setting || '/errcodes.txt') as text from pg_config where name = 'SHAREDIR'",
  );
  await client.end();
  await database.drop();
  const found = [...(rows[0]?.text ?? '').matchAll(/^([0-9A-Z]{5})\s/gm)].map(([, code = '']) => code);
  return [...new Set([...ofSomeVersions, ...found])];
}

/** The classes and codes of each kind; a code takes precedence over its class. Every class of the manual is listed. */
const expected: Readonly<Record<SqlStateKind, string>> = {
  unavailable: '08 25006 25P03 25P04 40003 53 55P03 57 58 72 F0',
  refused: '28 3D',
  conflict: '26 40',
  missing: '3F 42703 42704 42883 42P01',
  data: '09 20 21 22 23 27 38 39 40002 44 54 P0 XX',
  mistake: '00 01 02 03 0A 0B 0F 0L 0P 0Z 10 24 25 2B 2D 2F 34 3B 42 55 HV',
};

const kinds = new Map(
  Object.entries(expected).flatMap(([kind, states]) => states.split(' ').map((state) => [state, kind])),
);

describe('An SQLSTATE', () => {
  let states: readonly string[] = [];

  before(async () => {
    states = await statesOfManual();
  });

  it('has the kind that is expected of it, whichever of the manual it is', () => {
    expect(states).to.have.length.greaterThan(250);
    const found = states.map((state) => [state, meaningOf(state).kind]);
    const wanted = states.map((state) => [state, kinds.get(state) ?? kinds.get(state.slice(0, 2))]);
    expect(found).to.deep.equal(wanted);
  });

  it('has an explanation if it is reported as unavailable', () => {
    const silent = states.filter((state) => {
      const { kind, reason } = meaningOf(state);
      return ['unavailable', 'refused', 'missing'].includes(kind) && reason === '';
    });
    expect(silent).to.deep.equal([]);
  });

  it('is a mistake if no version of Postgres has it', () => {
    for (const state of ['99999', 'ZZ001', 'EPIPE', '', 'toString', '57'])
      expect(meaningOf(state).kind).to.equal('mistake');
  });
});
