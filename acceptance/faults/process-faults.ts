import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../test/system/eventually.js';
import { ahead } from './fleet.js';
import { type Fault, type Notes, pick, type Stage } from './stage.js';

/** Dies at any instant, with whatever it holds, and comes back. */
export const workerKilled: Fault = async ({ fleet, random }) => {
  const index = pick(random, fleet.size);
  await fleet.endWorker(index, 'SIGKILL');
  await sleep(500 + random() * 1_000);
  await fleet.startWorker(index);
  return {};
};

/** Two die at the same instant. */
export const workersKilled: Fault = async ({ fleet, random }) => {
  const first = pick(random, fleet.size);
  const both = [first, (first + 1 + pick(random, fleet.size - 1)) % fleet.size];
  await Promise.all(both.map((index) => fleet.endWorker(index, 'SIGKILL')));
  await sleep(500 + random() * 1_000);
  await Promise.all(both.map((index) => fleet.startWorker(index)));
  return {};
};

/** A deployment: asked to end, and started anew. */
export const workerStopped: Fault = async ({ fleet, random }) => {
  const index = pick(random, fleet.size);
  await fleet.endWorker(index, 'SIGTERM');
  await fleet.startWorker(index);
  return {};
};

/** Works with a clock that is an hour ahead. */
export const clockAhead: Fault = async ({ fleet, random }) => {
  const index = pick(random, fleet.size);
  await fleet.endWorker(index, 'SIGTERM');
  await fleet.startWorker(index, ahead);
  await sleep(3_000);
  await fleet.endWorker(index, 'SIGTERM');
  await fleet.startWorker(index);
  return {};
};

interface Held {
  readonly id: string;
  readonly attempt: number;
}

/** What history and ledger say of jobs. A plain job may have effects of a late attempt too: it runs at least once. */
async function outcomes({ observer }: Stage, ids: readonly string[]): Promise<string> {
  const history = await observer.query(
    'select id, state, attempt, server_id, finished_at from longshore.job_done where id = any ($1) order by id',
    [ids],
  );
  const effects = await observer.query(
    `select job_id, attempt from ledger.effect where job_id = any ($1) and name <> 'plain' order by id`,
    [ids],
  );
  return JSON.stringify({ history, effects });
}

/** Frozen for longer than its timeout, with jobs under way; what it completes when it thaws must change nothing. */
export const workerFrozen: Fault = async (stage): Promise<Notes> => {
  const { fleet, observer, load, random } = stage;
  const { pid } = fleet.worker(pick(random, fleet.size));
  const enqueued = Array.from({ length: 24 }, async (_, index) =>
    load.accept(await observer.enqueue(index % 2 === 0 ? 'plain' : 'transactional', 600)),
  );
  await Promise.all(enqueued);
  const running = `
    select job.id, job.attempt, job.server_id from longshore.job join longshore.server on server.id = job.server_id
    where job.queue_id > 0 and server.pid = $1`;
  await eventually(async () => (await observer.query(running, [pid])).length > 0, 30_000);
  await sleep(random() * 300);
  process.kill(pid, 'SIGSTOP');
  try {
    const held = await observer.query<Held>(running, [pid]);
    const ids = held.map(({ id }) => id);
    const dead = 'select from longshore.server where pid = $1';
    const frozenAt = performance.now();
    await eventually(async () => (await observer.query(dead, [pid])).length === 0, 60_000);
    const buriedMs = performance.now() - frozenAt;
    await eventually(async () => (await observer.unfinished(ids)).length === 0, 150_000);
    const elsewhereMs = performance.now() - frozenAt;
    const before = await outcomes(stage, ids);
    process.kill(pid, 'SIGCONT');
    await eventually(async () => (await observer.query(dead, [pid])).length === 1, 60_000);
    await sleep(1_000);
    const unchanged = before === (await outcomes(stage, ids));
    return {
      remark: `held ${ids.length}, declared dead after ${seconds(buriedMs)}, done elsewhere after ${seconds(elsewhereMs)}`,
      breaches: unchanged ? [] : [`late completions changed ${before} to ${await outcomes(stage, ids)}`],
    };
  } finally {
    process.kill(pid, 'SIGCONT');
  }
};

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
