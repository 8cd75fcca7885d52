import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@longshore/test-support';
import { theirs } from './observer.js';
import { seconds } from './process-faults.js';
import { type Fault, pick, type Stage } from './stage.js';

/** Calls `act` repeatedly for `ms` milliseconds. Resolves to the number of calls. */
async function during(ms: number, act: () => Promise<unknown>): Promise<number> {
  let times = 0;
  for (const end = performance.now() + ms; performance.now() < end; times++) await act();
  return times;
}

/** Kills Postgres with SIGQUIT and starts it again after 0.3 to 2.3 seconds. */
export const postgresKilled: Fault = async ({ postgres, random }) => {
  await postgres.kill();
  await sleep(300 + random() * 2_000);
  await postgres.start();
  return {};
};

/** Kills a random backend with SIGKILL. Postgres then terminates all other backends and runs crash recovery. */
export const backendKilled: Fault = async ({ observer }) => {
  const [row] = await observer.read<{ pid: number }>(
    `select pid from pg_stat_activity where ${theirs} order by random() limit 1`,
  );
  if (row === undefined) return {};
  try {
    process.kill(row.pid, 'SIGKILL');
  } catch {
    return { remark: 'it had ended by then' };
  }
  await sleep(100);
  await eventually(() => observer.query('select 1'));
  return {};
};

/** Terminates random connections of the services and enqueuers for four seconds. */
export const connectionsCut: Fault = async ({ observer, random }) => {
  let cut = 0;
  await during(4_000, async () => {
    const rows = await observer.query(
      `select pg_terminate_backend(pid) from (select pid from pg_stat_activity where ${theirs} order by random() limit $1) as chosen`,
      [1 + pick(random, 4)],
    );
    cut += rows.length;
    await sleep(20 + random() * 150);
  });
  return { remark: `${cut} cut` };
};

/**
 * For four seconds, repeatedly terminates all connections that listen for notifications. Measures how long new jobs
 * take during this time. Jobs still start, because servers poll.
 */
export const listenCut: Fault = async (stage) => {
  const { observer } = stage;
  const over = new AbortController();
  const cutting = (async (): Promise<void> => {
    while (!over.signal.aborted) {
      await observer.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where ${theirs} and query ilike 'listen %'`,
      );
      await sleep(20);
    }
  })();
  const waits: number[] = [];
  try {
    await during(4_000, async () => waits.push(await timeOfOne(stage)));
  } finally {
    over.abort();
    await cutting;
  }
  waits.sort((left, right) => left - right);
  const [median = NaN] = waits.slice(Math.floor(waits.length / 2));
  return {
    remark: `${waits.length} jobs meanwhile, each done after ${seconds(median)} (median), at most ${seconds(waits.at(-1) ?? NaN)}`,
  };
};

/** Enqueues a job and waits until it has finished. Resolves to the elapsed time, in milliseconds. */
export async function timeOfOne({ observer, load }: Stage): Promise<number> {
  const startedAt = performance.now();
  const id = load.accept(await observer.enqueue('plain', 0));
  await observer.untilDone([id]);
  return performance.now() - startedAt;
}

/**
 * Enqueues more transactional jobs at once than there are connections in all pools together. Waits until these jobs
 * have finished.
 */
export const poolsExhausted: Fault = async ({ observer, load }) => {
  const ids = await Promise.all(
    Array.from({ length: 150 }, async () => load.accept(await observer.enqueue('transactional', 400))),
  );
  await observer.untilDone(ids);
  return {};
};
