import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { house } from './house/house.js';

const run = promisify(execFile);

/** Source of a typical application with key functions, sort fields and custom operations. */
const withResources = `
import { defineJob, handleJob, JobClient, MemoryStorage } from '@longshore/jobs';
import { defineResource, tableStorage } from '@longshore/resources';
import Type from 'typebox';

export const sendReceipt = defineJob({
  name: 'send-receipt',
  args: Type.Object({ orderId: Type.String({ format: 'uuid' }), copies: Type.Integer() }),
  unique: { key: ({ orderId }) => orderId },
  concurrency: { key: (args) => args.orderId, limit: 3 },
});
export const handler = handleJob(sendReceipt, ({ args }) => args.copies + 1);
const client = new JobClient(new MemoryStorage());
await client.enqueue(sendReceipt, { orderId: 'a', copies: 1 });
await client.enqueueMany([{ definition: sendReceipt, args: { orderId: 'a', copies: 1 } }]);

const item = Type.Object({
  id: Type.String({ format: 'uuid' }),
  customerId: Type.String({ format: 'uuid' }),
  state: Type.Enum(['draft', 'paid', 'refunded']),
  totalCents: Type.Integer({ minimum: 0 }),
  createdAt: Type.String({ format: 'date-time' }),
  note: Type.Union([Type.String(), Type.Null()]),
});
export const orders = defineResource(
  {
    name: 'orders',
    item,
    serverSet: ['id', 'state', 'createdAt'],
    filters: { state: 'exact' },
    sort: ['createdAt', 'totalCents'],
    defaultSort: ['-createdAt'],
    operations: {
      pay: { summary: 'Pay an order', states: { field: 'state', from: ['draft'], to: ['paid'] }, enqueues: true },
      refund: { summary: 'Refund an order', body: Type.Object({ reason: Type.String() }) },
    },
  },
  tableStorage({
    name: 'shop.order',
    operations: {
      pay: async ({ item, enqueue }) => {
        await enqueue(sendReceipt, { orderId: item.id, copies: 1 });
      },
      refund: async ({ body }) => ({ note: body.reason }),
    },
  }),
);
`;

/** Source of an application whose handlers enqueue, and read the results of parents and of a batch: 60 lines. */
const handlersOnly = `
import { defineJob, defineRecurringJob, handleJob, JobClient, JobServer, MemoryStorage } from 'longshore';
import Type from 'typebox';

const Purchase = Type.Object({ purchase: Type.Integer() });
export const sendReceipt = defineJob({
  name: 'send-receipt',
  queue: 'mail',
  args: Type.Object({ purchase: Type.Integer(), email: Type.String() }),
});
export const callWebhook = defineJob({
  name: 'call-webhook',
  args: Type.Object({ customer: Type.String(), event: Type.String() }),
  concurrency: { key: ({ customer }) => customer, rate: { jobs: 50, periodMs: 1_000 } },
});
export const importPrices = defineJob({
  name: 'import-prices',
  args: Type.Object({ lines: Type.Array(Type.String()) }),
});
export const importLine = defineJob({
  name: 'import-line',
  args: Type.Object({ line: Type.String() }),
  result: Type.Object({ cents: Type.Integer() }),
});
export const summarize = defineJob({ name: 'summarize' });
export const charge = defineJob({ name: 'charge', args: Purchase, result: Type.Object({ id: Type.String() }) });
export const ship = defineJob({ name: 'ship', args: Purchase });
const nightly = defineJob({ name: 'nightly' });

const handlers = [
  handleJob(sendReceipt, ({ args, enqueue, transaction }) =>
    transaction(async (client) => {
      await client.query('insert into receipt values ($1)', [args.purchase]);
      await enqueue(callWebhook, { customer: args.email, event: 'receipt' });
    }),
  ),
  handleJob(callWebhook, ({ args }) => args.event),
  handleJob(importPrices, async ({ args, enqueueBatch }) => {
    await enqueueBatch({
      jobs: args.lines.map((line) => ({ definition: importLine, args: { line } })),
      callback: { definition: summarize },
    });
  }),
  handleJob(importLine, ({ args }) => ({ cents: args.line.length })),
  handleJob(summarize, async ({ batch }) => {
    let sum = 0;
    for await (const { cents } of (await batch())?.results(importLine) ?? []) sum += cents;
    return sum;
  }),
  handleJob(charge, ({ args }) => ({ id: String(args.purchase) })),
  handleJob(ship, async ({ parents }) => (await parents([charge]))[0].result?.id ?? null),
];
const storage = new MemoryStorage();
const client = new JobClient(storage);
const { id } = await client.enqueue(charge, { purchase: 1 });
await client.enqueue(ship, { purchase: 1 }, { after: { parents: [id] } });
const recurring = [defineRecurringJob({ id: 'nightly', definition: nightly, every: '6 h' })];
await new JobServer({ storage, handlers, application: 'desk', recurring }).start();
`;

/**
 * The programs with their maximum number of type instantiations. The one with resources needs 12,000 with TypeScript 5.9 and
 * 7; without `NoInfer`, it needed 1,200,000, and TypeScript 5 took eight seconds. The one with handlers needs 8,100.
 */
const programs = [
  { name: 'with resources', program: withResources, maxInstantiations: 25_000 },
  { name: 'with handlers only', program: handlersOnly, maxInstantiations: 10_000 },
];

describe('Type-checking an application', () => {
  for (const { name, program, maxInstantiations } of programs)
    it(`${name} takes at most ${maxInstantiations} instantiations`, async () => {
      const data = path.join(house, '.data');
      await mkdir(data, { recursive: true });
      const directory = await mkdtemp(path.join(data, 'types-'));
      try {
        await writeFile(path.join(directory, 'application.ts'), program);
        const compilerOptions = { composite: false, declaration: false, declarationMap: false, noEmit: true };
        const config = { extends: path.join(house, 'tsconfig.base.json'), compilerOptions };
        await writeFile(path.join(directory, 'tsconfig.json'), JSON.stringify(config));
        const { stdout } = await run('npx', ['tsc', '-p', directory, '--extendedDiagnostics'], {
          cwd: house,
        });
        expect(Number(/^Instantiations: +(\d+)/m.exec(stdout)?.[1])).to.be.within(1, maxInstantiations);
      } finally {
        await rm(directory, { recursive: true });
      }
    });
});
