import { createCitusDatabase, patientStorage, type TestDatabase } from '@longshore/test-support';
import { staticStatements } from '../../src/connection/statement.js';
import { expect } from 'chai';
import { PostgresStorage } from '../../src/index.js';

const id = '01890000-0000-7000-8000-000000000001';
const server = '01890000-0000-7000-8000-0000000000aa';

type Value = string | number | null | readonly (string | number | null)[];

/** Parameters of each statement on the hot path. The first parameter is always the queue's id. */
const hot: Readonly<Record<string, readonly Value[]>> = {
  'insert-alike': [1, [id], '[{}]', 'work', 0, 10],
  'insert-ready': [1, [id], '[{}]', ['work'], [0], [10], [null]],
  'insert-waiting': [1, [id], '[{}]', ['work'], [0], [10], [null], [null], [1000]],
  'insert-blocked': [1, [id], '[{}]', ['work'], [0], [10], [null]],
  'promote-due': [1, 100, '-infinity'],
  'claim-ready': [1, server, 10, 1000, [0], [0], [100]],
  'renew-claims': [1, [id], [server], [1], 1000],
  'finish-done': [1, [id], server, [1], ['{}']],
  'finish-failed': [1, [id], server, [1], ['{}']],
  'finish-cancelled': [1, [id], server, [1], ['{}']],
  'finish-snooze': [1, [id], server, [1], [1000]],
  'finish-done-any': [1, [id], server, [1], ['{}']],
  'finish-retry': [1, [id], server, [1], ['{}'], [1000]],
};

interface Explained {
  readonly 'QUERY PLAN': string;
}

describe('On Citus, the statement', () => {
  let database: TestDatabase;

  before(async () => {
    database = await createCitusDatabase();
    const storage = new PostgresStorage({ url: database.url, ...patientStorage, distribution: 'citus' });
    await storage.open();
    await storage.enqueuer.ensureQueue('work');
    await storage.close();
  });
  after(() => database.drop());

  for (const [name, values] of Object.entries(hot)) {
    it(`${name} works on the node of its queue, one task for each part, and selects nothing on the coordinator to insert it`, async () => {
      const { text = '', citus = text } = staticStatements().get(`longshore-${name}`) ?? {};
      const rows = await database.query<Explained & Record<string, unknown>>(
        `explain ${literal(citus, values)}`,
      );
      const plan = rows.map((row) => row['QUERY PLAN']);
      const found = (pattern: RegExp): string[] => plan.flatMap((line) => pattern.exec(line)?.[1] ?? []);
      const tasks = found(/Task Count: (\d+)/);
      expect(tasks, plan.join('\n')).to.include('1');
      expect(new Set(tasks), plan.join('\n')).to.deep.equal(new Set(['1']));
      const nodes = found(/Node: (host=\S+ port=\d+)/);
      const coordinator = new URL(database.url).port;
      expect(new Set(nodes.filter((node) => !node.endsWith(`port=${coordinator}`))).size).to.equal(1);
      expect(plan.filter((line) => line.includes('pull to coordinator'))).to.deep.equal([]);
    });
  }
});

/** Replaces the parameters of a statement with literals, because `explain` accepts no parameters. */
function literal(text: string, values: readonly Value[]): string {
  return text.replaceAll(/\$(\d+)/g, (_, place: string) => {
    const value = values[Number(place) - 1];
    if (value === null || value === undefined || typeof value === 'number') return String(value ?? null);
    if (typeof value !== 'string')
      return `'{${value.map((item) => (item === null ? 'NULL' : JSON.stringify(item))).join(',')}}'`;
    return `'${value}'`;
  });
}
