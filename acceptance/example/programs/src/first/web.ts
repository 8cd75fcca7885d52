import express from 'express';
import { JobClient, PostgresStorage, stopOnSignals } from 'longshore';
import pg from 'pg';
import { checkOut } from './checkout.js';

/** The shop of the first version: Express in front of the job store. Runs no jobs. */
const url = process.env['DATABASE_URL'] ?? '';
const storage = new PostgresStorage({ url });
await storage.open();
const client = new JobClient(storage);
const pool = new pg.Pool({ connectionString: url });

const app = express();
app.use(express.json());
app.post('/purchases', async (request, response) => {
  const { purchase, email } = request.body as { purchase: number; email: string };
  response.status(201).json(await checkOut(client, pool, purchase, email));
});
const http = app.listen(Number(process.env['PORT']), '127.0.0.1', () => console.log('listening'));

stopOnSignals([() => new Promise((resolve) => http.close(resolve)), () => pool.end(), () => storage.close()]);
