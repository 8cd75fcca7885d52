/**
 * `node operator.js URL DATABASE-URL SEED`: an operator who works over HTTP until SIGTERM, and continues if a request
 * fails. Enqueues batches whose jobs fail, and retries these jobs, one at a time and in bulk; and enqueues jobs that start
 * again and again, moves some of them to another queue, and cancels them; and jobs that it signals.
 *
 * Prints `job ID FROM UNTIL` or `batch ID FROM UNTIL` like `enqueuer.ts`, `to cancel ID` before each attempt to cancel a
 * job or a batch, and `refused …` for valid requests that were rejected as invalid. Acknowledged cancellations and signals are
 * stored in `ledger.cancellation` and `ledger.signal`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { mulberry32, pickOf } from './random.js';

/** Number of concurrent activities. */
const lanes = 3;

/** Mean pause between a lane's activities, in milliseconds. */
const pauseMs = 700;

/** Request timeout, in milliseconds. */
const patienceMs = 15_000;

const [url = '', databaseUrl = '', seed] = process.argv.slice(2);
const random = mulberry32(Number(seed));
const over = new AbortController();
process.once('SIGTERM', () => over.abort());

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Thrown if a request had no effect, or one that is unknown: it was not answered, or answered with an error. */
class FailedError extends Error {
  override readonly name = 'FailedError';
}

/**
 * Sends a request and resolves to the body of the response; `null` if the state of its subject does not allow it. Prints
 * requests that were rejected as invalid.
 *
 * @throws {FailedError} if it was not carried out, or it is not known whether it was
 */
async function send(method: string, path: string, body?: object): Promise<unknown> {
  const request = {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
    signal: AbortSignal.timeout(patienceMs),
  };
  const answer = await fetch(`${url}/api/v1/${path}`, request)
    .then(async (response) => ({ status: response.status, text: await response.text() }))
    .catch((error: unknown) => {
      throw new FailedError(String(error));
    });
  const { status, text } = answer;
  if (status < 300) return JSON.parse(text);
  if (status === 404 || status === 409) return null;
  if (status < 500 && status !== 429)
    print(`refused ${status} ${text} to ${method} ${path} ${JSON.stringify(body)}`);
  throw new FailedError(`${status} ${text}`);
}

/** Enqueues a job or a batch, prints it, and resolves to its id. */
async function enqueue(what: 'job' | 'batch', body: object): Promise<string> {
  const from = new Date().toISOString();
  const { id } = (await send('POST', what === 'job' ? 'jobs' : 'batches', body)) as { id: string };
  print(`${what} ${id} ${from} ${new Date().toISOString()}`);
  return id;
}

const idsOf = (page: unknown): string[] => (page as { id: string }[] | null)?.map(({ id }) => id) ?? [];

/** Records acknowledged cancellations or signals. Retries until they are stored, at a time after the acknowledgement. */
async function record(what: 'cancellation' | 'signal', ids: readonly string[]): Promise<void> {
  for (;;) {
    const client = new pg.Client({
      connectionString: databaseUrl,
      application_name: 'faults operator',
      connectionTimeoutMillis: 5_000,
      query_timeout: patienceMs,
    });
    client.on('error', () => undefined); // ignored, because the query fails anyway
    try {
      await client.connect();
      const sql = `insert into ledger.${what} (job_id) select unnest($1::uuid[]) on conflict do nothing`;
      await client.query(sql, [ids]);
      return;
    } catch {
      await sleep(200);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

const restless = (): object => ({
  name: 'restless',
  args: { ms: Math.round(20 + random() * 200), failures: 20 },
});
const brittle = (): object => ({
  name: 'brittle',
  args: { ms: Math.round(random() * 60), failures: Math.floor(random() * 3) },
});
const plain = { name: 'plain', args: { ms: 5, failures: 0 } };

/** Cancels a job that may have been moved to another queue between two attempts. */
async function cancelJob(): Promise<void> {
  const id = await enqueue('job', restless());
  await sleep(random() * 1_500);
  if (random() < 0.5) await send('PATCH', `jobs/${id}`, { queue: 'plain' });
  print(`to cancel ${id}`);
  if ((await send('PUT', `jobs/${id}/cancel`, {})) !== null) await record('cancellation', [id]);
}

async function cancelBatch(): Promise<void> {
  const jobs = Array.from({ length: 1 + Math.floor(random() * 4) }, restless);
  const id = await enqueue('batch', { jobs, callback: plain, callbackWhen: 'onAny' });
  await sleep(random() * 1_500);
  const ids = idsOf(await send('GET', `batches/${id}/jobs`));
  print(`to cancel ${id}`); // the list may lack jobs that moved while it was read
  if ((await send('PUT', `batches/${id}/cancel`, {})) !== null) await record('cancellation', ids);
}

/** Enqueues a batch whose jobs may fail, and jobs that depend on it and on each other. */
async function enqueueBrittle(): Promise<void> {
  const jobs = Array.from({ length: 1 + Math.floor(random() * 3) }, brittle);
  let parent = await enqueue('batch', { jobs, callback: brittle() });
  for (let left = Math.floor(random() * 3); left > 0; left--) {
    parent = await enqueue('job', { ...brittle(), after: { parents: [parent] } });
  }
}

/** Signals a job that waits for it, or has not come to that yet. Repeats the signal until it is acknowledged. */
async function signalOne(): Promise<void> {
  const args = { ms: Math.round(random() * 500), failures: 0, key: 'signal' };
  const id = await enqueue('job', { name: 'stepped', args });
  await sleep(random() * 3_000);
  const signal = { name: 'go', id: 'operator', data: true };
  const isSent = (): Promise<boolean> =>
    send('PUT', `jobs/${id}/signal`, signal).then(
      () => true,
      () => false,
    );
  while (!(await isSent())) await sleep(200);
  await record('signal', [id]);
}

async function retryOne(): Promise<void> {
  const ids = idsOf(await send('GET', 'jobs?state=failed&limit=50'));
  if (ids.length > 0) await send('PUT', `jobs/${pickOf(ids, random)}/retry`, { dependents: true });
}

async function retryAll(): Promise<void> {
  await send('PUT', 'jobs/retry?state=failed', { dependents: true });
}

const activities = [
  cancelJob,
  cancelBatch,
  enqueueBrittle,
  enqueueBrittle,
  retryOne,
  retryOne,
  retryOne,
  retryAll,
  signalOne,
  signalOne,
];

async function lane(): Promise<void> {
  while (!over.signal.aborted) {
    try {
      await pickOf(activities, random)();
    } catch (error) {
      if (!(error instanceof FailedError)) throw error;
      await sleep(100);
    }
    await sleep(random() * 2 * pauseMs);
  }
}

await Promise.all(Array.from({ length: lanes }, lane));
