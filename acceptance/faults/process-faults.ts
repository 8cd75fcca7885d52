import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@longshore/test-support';
import type { Fault, Notes, Stage } from './stage.js';

/** Kills a random worker with SIGKILL and starts it again after 0.3 to 1 second. */
export const workerKilled: Fault = (stage) => killed(stage, 1);

/** Like {@link workerKilled}, but kills two workers at the same time. */
export const workersKilled: Fault = (stage) => killed(stage, 2);

function killed({ fleet, random }: Stage, count: number): Promise<Notes> {
  return fleet.withWorkers(count, random, async (indexes) => {
    await Promise.all(indexes.map((index) => fleet.endWorker(index, 'SIGKILL')));
    await sleep(300 + random() * 700);
    await Promise.all(indexes.map((index) => fleet.startWorker(index)));
    return {};
  });
}

/** Stops a worker with SIGTERM and starts it again, as a deployment does. */
export const workerStopped: Fault = ({ fleet, random }) =>
  fleet.withWorkers(1, random, async ([index = 0]) => {
    await fleet.endWorker(index, 'SIGTERM');
    await fleet.startWorker(index);
    return {};
  });

interface Held {
  readonly id: string;
  readonly attempt: number;
}

/**
 * Returns the jobs' outcomes in the history and their effects in the ledger, as JSON. Excludes the effects of plain
 * jobs. Plain jobs run at least once, so a late attempt may add an effect.
 */
async function outcomes({ observer }: Stage, ids: readonly string[]): Promise<string> {
  const history = await observer.read(
    'select id, state, attempt, server_id, finished_at from longshore.job_history where id = any ($1) order by id',
    [ids],
  );
  const effects = await observer.read(
    `select job_id, attempt from ledger.effect where job_id = any ($1) and name <> 'plain' order by id`,
    [ids],
  );
  return JSON.stringify({ history, effects });
}

/**
 * Freezes a worker that is running jobs. Resumes the worker after other workers have finished these jobs. The resumed
 * worker's late completions must change nothing.
 */
export const workerFrozen: Fault = (stage) =>
  stage.fleet.withWorkers(1, stage.random, ([index = 0]) => frozen(stage, stage.fleet.worker(index).pid));

async function frozen(stage: Stage, pid: number): Promise<Notes> {
  const { observer, load, random } = stage;
  const enqueued = Array.from({ length: 24 }, async (_, index) =>
    load.accept(await observer.enqueue(index % 2 === 0 ? 'plain' : 'transactional', 600)),
  );
  const own = new Set(await Promise.all(enqueued));
  const running = `
    select job.id, job.attempt, job.server_id from longshore.job join longshore.server on server.id = job.server_id
    where job.queue_id > 0 and server.pid = $1`;
  await eventually(
    () => observer.query(running, [pid]),
    ({ length }) => length > 0,
  );
  await sleep(random() * 300);
  process.kill(pid, 'SIGSTOP');
  try {
    const held = await observer.read<Held>(running, [pid]);
    const ids = held.map(({ id }) => id);
    const registered = 'select id from longshore.server where pid = $1';
    const frozenAt = performance.now();
    await eventually(
      () => observer.query(registered, [pid]),
      ({ length }) => length === 0,
    );
    const declaredDeadMs = performance.now() - frozenAt;
    await observer.untilDone(ids);
    const elsewhereMs = performance.now() - frozenAt;
    // Others may fail, and operators retry them meanwhile.
    const compared = ids.filter((id) => own.has(id));
    const before = await outcomes(stage, compared);
    process.kill(pid, 'SIGCONT');
    await eventually(
      () => observer.query(registered, [pid]),
      ({ length }) => length === 1,
    );
    await sleep(1_000);
    const unchanged = before === (await outcomes(stage, compared));
    return {
      remark: `held ${ids.length}, declared dead after ${seconds(declaredDeadMs)}, done elsewhere after ${seconds(elsewhereMs)}`,
      breaches: unchanged ? [] : [`late completions changed ${before} to ${await outcomes(stage, compared)}`],
    };
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
