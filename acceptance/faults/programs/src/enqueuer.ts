/**
 * `node enqueuer.js http|sql URL SEED RATE`: sends RATE requests per second until SIGTERM, and continues if a request
 * fails. Prints `job ID FROM UNTIL` or `batch ID FROM UNTIL` for each accepted job or batch, with the times at which
 * the request began and ended, and `refused …` for each {@link RefusedError}.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpEntrance, RefusedError } from './http-entrance.js';
import { nextOrder } from './job-order.js';
import { mulberry32 } from './random.js';
import { SqlEntrance } from './sql-entrance.js';

/** Number of concurrent requests. */
const lanes = 4;

const [kind, url = '', seed, rate] = process.argv.slice(2);

/** Mean pause between a lane's requests, in milliseconds. */
const pauseMs = (lanes / Number(rate)) * 1000;

const random = mulberry32(Number(seed));
const over = new AbortController();
process.once('SIGTERM', () => over.abort());

async function lane(): Promise<void> {
  const entrance = kind === 'sql' ? new SqlEntrance(url) : new HttpEntrance(url);
  while (!over.signal.aborted) {
    try {
      const from = new Date().toISOString();
      const { what, id } = await entrance.enqueue(nextOrder(random));
      process.stdout.write(`${what} ${id} ${from} ${new Date().toISOString()}\n`);
    } catch (error) {
      if (error instanceof RefusedError) process.stdout.write(`refused ${error.message}\n`);
      await sleep(100);
    }
    await sleep(random() * 2 * pauseMs);
  }
  await entrance.close();
}

await Promise.all(Array.from({ length: lanes }, lane));
