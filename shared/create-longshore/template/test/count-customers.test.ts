import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobClient, JobEvents, JobServer, MemoryStorage } from 'longshore';
import { countCustomers, countCustomersHandler } from '../src/jobs/count-customers.js';

test('count-customers returns the number of customers', async () => {
  const database = { query: async () => ({ rows: [{ count: 3 }], rowCount: 1 }) };
  const storage = new MemoryStorage();
  const server = new JobServer({ storage, handlers: [countCustomersHandler(database as never)] });
  const events = new JobEvents(storage);
  await server.start();
  try {
    const { id } = await new JobClient(storage).enqueue(countCustomers, {});
    const job = await events.waitForEnd(id, 10_000);
    assert.deepEqual(job?.result, { count: 3 });
  } finally {
    await events.close();
    await server.stop();
  }
});
