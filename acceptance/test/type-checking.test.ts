import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { house } from './house/house.js';

const run = promisify(execFile);

/** Source of a typical application with key functions, sort fields and custom operations. */
const program = `
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

/**
 * Maximum number of type instantiations. The program needs 12,600 with TypeScript 5.9 and 7. Without `NoInfer`, it
 * needed 1,200,000, and TypeScript 5 took eight seconds.
 */
const maxInstantiations = 25_000;

describe('Type-checking an application', () => {
  it(`takes at most ${maxInstantiations} instantiations`, async () => {
    const data = path.join(house, '.data');
    await mkdir(data, { recursive: true });
    const directory = await mkdtemp(path.join(data, 'types-'));
    try {
      await writeFile(path.join(directory, 'application.ts'), program);
      const compilerOptions = { composite: false, declaration: false, declarationMap: false, noEmit: true };
      const config = { extends: path.join(house, 'tsconfig.base.json'), compilerOptions };
      await writeFile(path.join(directory, 'tsconfig.json'), JSON.stringify(config));
      const { stdout } = await run('npx', ['tsc', '-p', directory, '--extendedDiagnostics'], { cwd: house });
      expect(Number(/^Instantiations: +(\d+)/m.exec(stdout)?.[1])).to.be.within(1, maxInstantiations);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
