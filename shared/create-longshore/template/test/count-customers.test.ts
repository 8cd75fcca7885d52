import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runJob, TestJobs } from '@longshore/testing';
import { countCustomers, countCustomersHandler } from '../src/jobs/count-customers.js';

const database = { query: async () => ({ rows: [{ count: 3 }], rowCount: 1 }) };
const handler = countCustomersHandler(database as never);

test('count-customers returns and logs the number of customers', async () => {
  const { result, logs } = await runJob(handler);
  assert.deepEqual(result, { count: 3 });
  assert.equal(logs[0]?.message, 'There are 3 customers');
});

test('count-customers runs in its queue', async () => {
  const jobs = new TestJobs({ handlers: [handler] });
  await jobs.client.enqueue(countCustomers);
  await jobs.assertEnqueued(countCustomers);
  assert.equal((await jobs.drain()).done, 1);
});
