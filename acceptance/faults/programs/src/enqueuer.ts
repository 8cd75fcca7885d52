/**
 * `node enqueuer.js http|sql URL SEED`: enqueues jobs until SIGTERM, whatever happens. Prints `accepted ID` for each, after
 * the answer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { jobOrder } from './job-order.js';
import { HttpEntrance } from './http-entrance.js';
import { mulberry32 } from './random.js';
import { SqlEntrance } from './sql-entrance.js';

/** Requests at once. */
const lanes = 4;

/** Between a lane's requests, on average. */
const pauseMs = 150;

const [kind, url = '', seed] = process.argv.slice(2);
const random = mulberry32(Number(seed));
const over = new AbortController();
process.once('SIGTERM', () => over.abort());

async function lane(): Promise<void> {
  const entrance = kind === 'sql' ? new SqlEntrance(url) : new HttpEntrance(url);
  while (!over.signal.aborted) {
    try {
      process.stdout.write(`accepted ${await entrance.enqueue(jobOrder(random))}\n`);
    } catch {
      await sleep(100);
    }
    await sleep(random() * 2 * pauseMs);
  }
  await entrance.close();
}

await Promise.all(Array.from({ length: lanes }, lane));
