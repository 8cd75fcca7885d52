import type { Agent } from '../agent/agent.js';
import type { Bench } from '../bench.js';
import type { ServerSettings } from '../contenders/contender.js';
import { perSecond } from '../statistics.js';

/** Fills the line and measures how fast one server empties it: jobs a second. */
export async function drainRate(
  bench: Bench,
  agent: Agent,
  settings: ServerSettings,
  jobs: number = bench.sizes.jobs,
): Promise<number> {
  await agent.perform('enqueueMany', jobs);
  await bench.database.settle();
  return perSecond(jobs, await agent.perform('drain', jobs, settings));
}
