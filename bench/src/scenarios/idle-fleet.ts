import { setTimeout as pause } from 'node:timers/promises';
import type { Agent } from '../agent/agent.js';
import type { Bench, Scenario } from '../bench.js';
import { type ContenderName, isOnRedis } from '../contenders/index.js';
import type { Row } from '../result.js';
import { readFigures } from '../store-figures.js';

const queues = 20;
/** Maximum number of fleet servers that run in one process. */
const serversPerProcess = 25;

/**
 * How long the servers idle before the measurement, as a multiple of the measured period. The wait is needed because
 * idle connections are closed only after 30 s, and servers poll more often during the first seconds.
 */
const settleFactor = 4;

/** Measures the cost of idle servers: one server of each contender on Postgres, and a fleet of Longshore servers. */
export const idleFleet: Scenario = {
  name: 'idle-fleet',
  isLeftOutOfSmoke: true,
  run: async (bench) => {
    const { fleetServers, idleSeconds } = bench.sizes;
    const rows: Row[] = [];
    for (const contender of bench.among(['longshore', 'graphile-worker', 'pg-boss', 'bullmq (postgres)']))
      rows.push(await measure(bench, contender, 1));
    const fleet = await measure(bench, 'longshore', fleetServers);
    const [one] = rows;
    if (one === undefined) throw new RangeError('A contender is missing');
    return {
      title: `Idle servers with ${queues} queues each (peers: one queue), ${idleSeconds} s`,
      rows: [...rows, fleet],
      ratios: [
        { name: 'transactions/s of one server', value: figure(one, 'transactions/s'), target: { atMost: 2 } },
        { name: 'its processor, % of a core', value: figure(one, 'server %'), target: { atMost: 0.5 } },
        { name: 'its connections', value: figure(one, 'connections'), target: { atMost: 3 } },
        {
          name: `transactions/s of each of ${fleetServers} servers`,
          value: figure(fleet, 'transactions/s') / fleetServers,
          target: { atMost: 2 },
        },
      ],
    };
  },
};

const figure = ({ figures }: Row, name: string): number => figures[name] ?? NaN;

async function measure(bench: Bench, contender: ContenderName, servers: number): Promise<Row> {
  if (isOnRedis(contender)) throw new RangeError('Redis has no transactions to count');
  const { idleSeconds } = bench.sizes;
  bench.note(`${servers} × ${contender}`);
  return bench.withAgents([contender], async (first) => {
    if (first === undefined) throw new RangeError('A contender is missing');
    const agents = [first];
    try {
      for (let left = servers - serversPerProcess; left > 0; left -= serversPerProcess)
        agents.push(await bench.agent(contender, first.url));
      const share = Math.ceil(servers / agents.length);
      for (const agent of agents) await agent.perform('idle', share, queues);
      await pause(idleSeconds * 1_000 * settleFactor);
      const before = await spent(bench, agents, first.url);
      await pause(idleSeconds * 1_000);
      const after = await spent(bench, agents, first.url);
      const figures = {
        'transactions/s': (after.commits - before.commits) / idleSeconds,
        'server %': (after.nodeMs - before.nodeMs) / idleSeconds / 10,
        'postgres %': (after.postgresMs - before.postgresMs) / idleSeconds / 10,
        connections: after.connections,
      };
      return {
        name: servers === 1 ? contender : `${contender}, ${share * agents.length} servers`,
        settings: '',
        figures,
      };
    } finally {
      for (const agent of agents.slice(1)) await agent.stop();
    }
  });
}

async function spent(
  bench: Bench,
  agents: readonly Agent[],
  url: string,
): Promise<{ commits: number; connections: number; nodeMs: number; postgresMs: number }> {
  const times = await Promise.all(agents.map((agent) => agent.perform('processorTime')));
  const { commits, connections } = await readFigures(url);
  const postgresMs = (await bench.database.processorTime()) ?? NaN;
  return { commits, connections, nodeMs: times.reduce((sum, ms) => sum + ms, 0), postgresMs };
}
