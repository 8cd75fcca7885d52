import type { Agent } from '../agent/agent.js';
import type { Bench, Scenario } from '../bench.js';
import type { ServerSettings } from '../contenders/contender.js';
import { jobContenders } from '../contenders/index.js';
import { ratiosOf, type Row, type Target } from '../result.js';
import { describe, latencySettings, fastestSettings } from '../server-settings.js';
import { median, percentile } from '../statistics.js';

/** Measures the time from the call that enqueues a job to the first line of its handler, on an idle system. */
export const latency: Scenario = {
  name: 'latency',
  run: (bench) =>
    bench.withAgents(bench.among(jobContenders), async (...agents) => {
      const rows: Row[] = [];
      for (const place of ['two processes', 'one process'] as const) {
        for (const server of agents) rows.push(await measure(bench, server, place));
      }
      return {
        title: `Latency of an idle system: ${bench.sizes.latencyJobs} jobs, 10 to 30 ms between them`,
        rows,
        ratios: [rows.slice(0, agents.length), rows.slice(agents.length)].flatMap((placed) =>
          ratiosOf(placed, targets),
        ),
      };
    }),
};

const targets: Readonly<Record<string, Target>> = {
  'graphile-worker, two processes': { atMost: 1 },
  'graphile-worker, one process': { atMost: 1 },
};

async function measure(bench: Bench, server: Agent, place: 'one process' | 'two processes'): Promise<Row> {
  const contender = server.contender;
  const { latencyJobs, settingsTried } = bench.sizes;
  const sender = place === 'one process' ? server : await bench.agent(contender, server.url);
  try {
    const settings = await fastestSettings(
      (latencySettings[contender] ?? []).slice(0, settingsTried),
      async (candidate) => median(await latencies(server, sender, Math.ceil(latencyJobs / 5), candidate)),
    );
    const heard = await latencies(server, sender, latencyJobs, settings);
    const figures = {
      'p50 ms': median(heard),
      'p95 ms': percentile(heard, 0.95),
      'p99 ms': percentile(heard, 0.99),
    };
    return { name: `${contender}, ${place}`, settings: describe(settings), figures };
  } finally {
    if (sender !== server) await sender.stop();
  }
}

/** Returns the latencies of `jobs` jobs. First sends five extra jobs to warm up connections and code. */
async function latencies(
  server: Agent,
  sender: Agent,
  jobs: number,
  settings: ServerSettings,
): Promise<number[]> {
  const warmUp = 5;
  await server.perform('listen', settings);
  await sender.perform('send', jobs + warmUp);
  return (await server.perform('collectLatencies', jobs + warmUp)).slice(warmUp);
}
