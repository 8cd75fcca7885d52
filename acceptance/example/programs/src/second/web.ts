import Fastify from 'fastify';
import { JobClient, JobServer, PostgresStorage, stopOnSignals } from 'longshore';
import { handlers } from '../first/handlers.js';
import { importPrices } from '../first/jobs.js';
import { mailReceipt, receiptHandler } from './receipt.js';

/** The shop of the second version: Fastify, with a job server in the same process. */
const storage = new PostgresStorage({ url: process.env['DATABASE_URL'] ?? '' });
await storage.open();
const client = new JobClient(storage);
const server = new JobServer({ storage, handlers: [...handlers, receiptHandler] });

const app = Fastify();
app.post('/receipts', async (request, reply) => {
  // Bad arguments are an InvalidArgumentsError, which Fastify answers with 422.
  const { id } = await client.enqueue(
    mailReceipt,
    request.body as { purchase: number; to: string; locale: string },
  );
  return reply.code(202).send({ id });
});
app.post('/imports', async (request, reply) => {
  const { id } = await client.enqueue(importPrices, request.body as { lines: string[] });
  return reply.code(202).send({ id });
});

stopOnSignals([() => app.close(), () => server.stop(), () => storage.close()]);
await server.start();
await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
console.log('listening');
