import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { house } from '../house/house.js';
import type { Postgres } from '../system/postgres.js';
import { type Consumer, tools } from './consumer.js';

/**
 * Returns a complete program that contains the Prisma example. The program creates the client without Prisma's
 * generator, which would download a 70 MB engine that a client with a driver adapter does not need. The configuration
 * below matches the generator's output for one model.
 */
function programAround(example: string): string {
  const { resolve } = createRequire(path.join(tools, 'package.json'));
  const module = (name: string): string => pathToFileURL(resolve(name)).href;
  return `
import { defineJob, JobClient, PostgresStorage, prismaTransaction } from 'longshore';
import Type from 'typebox';
import client from '${module('@prisma/client/runtime/client')}';
import adapter from '${module('@prisma/adapter-pg')}';
import compiler from '${module('@prisma/client/runtime/query_compiler_fast_bg.postgresql.js')}';
import binary from '${module('@prisma/client/runtime/query_compiler_fast_bg.postgresql.wasm-base64.js')}';

const { PrismaPg } = adapter;
const PrismaClient = client.getPrismaClient({
  previewFeatures: [],
  clientVersion: 'test',
  engineVersion: 'test',
  activeProvider: 'postgresql',
  inlineSchema: 'datasource db { \\n provider = "postgresql" \\n } \\n model Order { \\n id Int @id \\n }',
  runtimeDataModel: {
    models: { Order: { dbName: null, schema: null, fields: [{ name: 'id', kind: 'scalar', type: 'Int' }] } },
    enums: {},
    types: {},
  },
  parameterizationSchema: { strings: [], graph: Buffer.alloc(64).toString('base64') },
  compilerWasm: {
    getRuntime: async () => compiler,
    getQueryCompilerWasmModule: async () => new WebAssembly.Module(Buffer.from(binary.wasm, 'base64')),
    importName: './query_compiler_fast_bg.js',
  },
});
const shipOrder = defineJob({ name: 'ship-order', args: Type.Object({ order: Type.Integer() }) });
const url = process.env.DATABASE_URL;
const storage = new PostgresStorage({ url });
await storage.open();
const jobs = new JobClient(storage);
${example.replace(/^const prisma = .*\n/m, (made) => `${made}await prisma.$executeRaw\`create table public."Order" (id integer)\`;\n`)}
const shipped = () => storage.jobs.list({ filter: { name: ['ship-order'] }, limit: 5 });
console.log((await shipped()).map(({ args, state }) => [args.order, state]), await prisma.order.count());

await prisma
  .$transaction(async (tx) => {
    await jobs.enqueue(shipOrder, { order: 8 }, { transaction: prismaTransaction(tx) });
    throw new Error('rolled back');
  })
  .catch((error) => console.log(error.message));
console.log((await shipped()).length);
try {
  prismaTransaction(prisma);
} catch (error) {
  console.log(error.message);
}
await prisma.$disconnect();
await storage.close();
`;
}

/** Defines the test that runs the Prisma example in docs/jobs/drivers.md with the real client. */
export function testPrisma(consumer: () => Consumer, postgres: () => Postgres): void {
  it('enqueue in transactions of Prisma, as documented', async () => {
    const page = await readFile(path.join(house, 'docs/jobs/drivers.md'), 'utf8');
    const [, example = ''] = /^```js\n(.*?)^```$/ms.exec(page) ?? [];
    const file = await consumer().write('prisma.js', programAround(example));
    const { ok, text } = await consumer().node([file], { DATABASE_URL: postgres().url });
    expect(ok, text).to.equal(true);
    expect(text).to.match(/^\[ \[ 7, 'enqueued' \] \] 1\nrolled back\n1\n.*prisma\.\$transaction/);
  });
}
