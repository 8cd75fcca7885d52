import type { Agent } from '../agent/agent.js';
import type { Bench } from '../bench.js';
import type { ServerSettings } from '../contenders/contender.js';
import type { Sample } from '../result.js';

/** Fills the queue and measures how fast one server drains it. */
export async function drainSample(
  bench: Bench,
  agent: Agent,
  settings: ServerSettings,
  jobs: number = bench.sizes.jobs,
): Promise<Sample> {
  await agent.perform('enqueueMany', jobs);
  return bench.sample(agent, jobs, () => agent.perform('drain', jobs, settings));
}
