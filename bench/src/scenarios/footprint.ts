import { setTimeout as pause } from 'node:timers/promises';
import type { Scenario } from '../bench.js';
import { jobContenders, isOnRedis } from '../contenders/index.js';
import { ratiosOf, type Row } from '../result.js';
import { drainSettings } from '../server-settings.js';
import { jobsOf } from '../sizes.js';
import { readFigures, statisticsDelayMs } from '../store-figures.js';

/** Measures the WAL, commits, dead rows and disk space per job, over a bulk enqueue and a drain. */
export const footprint: Scenario = {
  name: 'footprint',
  isLeftOutOfSmoke: true,
  run: async (bench) => {
    const rows: Row[] = [];
    for (const contender of bench.among(jobContenders).filter((name) => !isOnRedis(name))) {
      bench.note(contender);
      rows.push(
        await bench.withAgents([contender], async (agent) => {
          if (agent === undefined) throw new RangeError('A contender is missing');
          const jobs = jobsOf(contender, bench.sizes);
          await bench.database.settle(); // checkpoints first, so that full-page writes are alike for all contenders
          await pause(statisticsDelayMs);
          const before = await readFigures(agent.url);
          await agent.perform('enqueueMany', jobs);
          await agent.perform('drain', jobs, drainSettings[contender]?.[0] ?? {});
          await pause(statisticsDelayMs);
          const after = await readFigures(agent.url);
          const figures = {
            'WAL bytes/job': (after.walBytes - before.walBytes) / jobs,
            'commits/1000 jobs': ((after.commits - before.commits) * 1_000) / jobs,
            'dead rows/job': (after.deadTuples - before.deadTuples) / jobs,
            'MiB/million jobs': ((after.bytes - before.bytes) * 1e6) / jobs / 2 ** 20,
          };
          return { name: contender, settings: `${jobs} jobs`, figures };
        }),
      );
    }
    return {
      title: 'Footprint of a job with 20 bytes of arguments, from bulk enqueue to history',
      rows,
      ratios: [
        { name: 'WAL bytes/job', value: rows[0]?.figures['WAL bytes/job'] ?? NaN, target: { atMost: 900 } },
        ...ratiosOf(rows),
      ],
    };
  },
};
