import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const warning = {
  kind: 'queue-lags',
  key: 'k',
  subject: 'k',
  text: 'It is wrong.',
  advice: 'Mend it.',
  link: '',
  beganAt: null,
  isMeasured: true,
  isRecovering: false,
};

describe('Alerts on Postgres', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  beforeEach(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
  });

  afterEach(async () => {
    await storage.close();
    await database.drop();
  });

  it('are delivered before retries, which those to a dead webhook would otherwise make late', async () => {
    const { alerts, incidents } = storage;
    await alerts.register(['dead']);
    await incidents.observe([warning]);
    const [first] = await alerts.take(['dead'], 1, 3_600_000);
    if (first === undefined) throw new Error('No message was taken');
    await alerts.failed(first, 'No answer');
    await database.query('update longshore.alert_message set next_at = now()');
    await alerts.register(['alive']);
    await incidents.observe([warning, { ...warning, key: 'new', subject: 'new' }]);
    const taken = await alerts.take(['alive', 'dead'], 2, 3_600_000);
    expect(
      taken.map(({ content }) => content.type === 'warning.began' && content.incident.key),
    ).to.deep.equal(['new', 'new']);
    expect(await alerts.take(['alive', 'dead'], 1, 3_600_000)).to.have.nested.property('[0].target', 'dead');
  });

  it('stay away or arrive as the warning was last muted or unmuted, on whichever of its incidents', async () => {
    const { incidents } = storage;
    const end = () => database.query("update longshore.incident set ended_at = now() - interval '1 hour'");
    const until = new Date(Date.now() + 3_600_000);
    await incidents.observe([warning]);
    const [first] = await incidents.list({ limit: 1 });
    await incidents.mute(first?.id ?? '', { until });
    await end();
    await incidents.observe([warning]);
    const [second] = await incidents.list({ limit: 1 });
    expect(second).to.deep.include({ mutedUntil: until, announced: false });
    await incidents.mute(second?.id ?? '', null);
    await end();
    await incidents.observe([warning]);
    const [third] = await incidents.list({ limit: 1 });
    expect(third).to.deep.include({ mutedUntil: null, announced: true });
    await incidents.mute(first?.id ?? '', { until });
    expect((await incidents.find(third?.id ?? ''))?.mutedUntil).to.deep.equal(until);
  });
});
