import type { Agent } from '../agent/agent.js';
import type { Bench, Scenario } from '../bench.js';
import type { ContenderName } from '../contenders/index.js';
import { jobContenders } from '../contenders/index.js';
import { rateRow, ratioOf, type Row, type Sample } from '../result.js';
import { bestForDraining, describe } from '../server-settings.js';
import { jobsOf } from '../sizes.js';

const processCounts = [1, 2, 4];

/** Measures how throughput changes when several processes share a drain. */
export const drainProcesses: Scenario = {
  name: 'drain-processes',
  isLeftOutOfSmoke: true,
  run: async (bench) => {
    const rows: Row[] = [];
    for (const contender of bench.among(jobContenders)) rows.push(...(await measure(bench, contender)));
    const ours = (processes: number): Row => {
      const row = rows.find(({ name }) => name === rowName('longshore', processes));
      if (row === undefined) throw new RangeError('A row is missing');
      return row;
    };
    return {
      title: `Drain by several processes: ${bench.sizes.jobs} no-op jobs a round (pg-boss and BullMQ ${bench.sizes.slowJobs})`,
      rows,
      ratios: [ratioOf(ours(2), ours(1)), ratioOf(ours(4), ours(1))],
    };
  },
};

const rowName = (contender: ContenderName, processes: number): string =>
  `${contender}, ${processes} ${processes === 1 ? 'process' : 'processes'}`;

function measure(bench: Bench, contender: ContenderName): Promise<Row[]> {
  return bench.withAgents([contender], async (first) => {
    if (first === undefined) throw new RangeError('A contender is missing');
    const settings = await bestForDraining(first, bench.sizes);
    const agents = [first];
    try {
      while (agents.length < Math.max(...processCounts)) agents.push(await bench.agent(contender, first.url));
      const samples = await bench.interleave(processCounts, (count) =>
        drainTogether(bench, agents.slice(0, count), settings),
      );
      return processCounts.map((count) =>
        rateRow(rowName(contender, count), describe(settings), samples.get(count) ?? []),
      );
    } finally {
      for (const agent of agents.slice(1)) await agent.stop();
    }
  });
}

async function drainTogether(
  bench: Bench,
  agents: readonly Agent[],
  settings: Readonly<Record<string, number>>,
): Promise<Sample> {
  const [first] = agents;
  if (first === undefined) throw new RangeError('No process');
  const jobs = jobsOf(first.contender, bench.sizes);
  await first.perform('enqueueMany', jobs);
  return bench.sample(agents, jobs, async () => {
    const shares = await Promise.all(agents.map((agent) => agent.perform('drainShare', settings)));
    const ran = shares.reduce((sum, share) => sum + share.ran, 0);
    if (ran !== jobs) throw new Error(`${ran} instead of ${jobs} jobs ran`);
    return (
      Math.max(...shares.map(({ endedMs }) => endedMs)) -
      Math.min(...shares.map(({ startedMs }) => startedMs))
    );
  });
}
