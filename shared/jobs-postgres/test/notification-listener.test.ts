import { connect, createServer, type Server } from 'node:net';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { Database } from '../src/connection/database.js';
import { NotificationListener } from '../src/notifications/notification-listener.js';
import { databaseOptions } from '../src/connection/options.js';
import { createStoreDatabase } from './support/store-database.js';

describe('A notification listener', () => {
  let database: TestDatabase;
  let network: Server;
  let swallows: boolean;
  let listener: NotificationListener;
  /** The payloads received, and whether notifications were then known to arrive. */
  const heard: [payload: string, isReceiving: boolean][] = [];

  before(async () => {
    database = await createStoreDatabase();
    swallows = false;
    const { hostname, port } = new URL(database.url);
    network = createServer((socket) => {
      const postgres = connect(Number(port), hostname);
      socket.pipe(postgres);
      postgres.on('data', (data) => swallows || socket.write(data));
      for (const end of [socket, postgres]) end.on('error', () => undefined);
      socket.on('close', () => postgres.destroy());
    });
    await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', resolve));
    const address = network.address();
    if (address === null || typeof address === 'string') throw new Error('The proxy has no port');
    const url = Object.assign(new URL(database.url), { hostname: '127.0.0.1', port: String(address.port) });
    listener = new NotificationListener({
      database: new Database(databaseOptions({ url: url.href, ...patientStorage })),
      pulse: 'pulse',
      onPayload: (payload) => heard.push([payload, listener.isReceiving]),
      onChange: () => undefined,
      silenceMs: 50,
    });
    listener.start();
  });

  after(async () => {
    await listener.close();
    network.close();
    await database.drop();
  });

  it('detects when a network swallows notifications without ending the connection, and when the network has recovered', async () => {
    await eventually(() => listener.isReceiving);
    swallows = true;
    await eventually(() => !listener.isReceiving);
    swallows = false;
    await eventually(() => listener.isReceiving);
  });

  it('receives notifications from others', async () => {
    await eventually(() => listener.isReceiving);
    await database.query(`notify longshore, 'from another process'`);
    const [, isReceiving] = await eventually(() =>
      heard.find(([payload]) => payload === 'from another process'),
    );
    expect(isReceiving).to.equal(true);
  });
});
