import type { Agent } from './agent/agent.js';
import type { ServerSettings } from './contenders/contender.js';
import type { ContenderName } from './contenders/index.js';
import { type Sizes, stepJobsOf, stepsPerJob } from './sizes.js';

/** Settings to try, by contender. */
type Candidates = Readonly<Partial<Record<ContenderName, readonly ServerSettings[]>>>;

/** Settings to try for draining, by contender. */
export const drainSettings: Candidates = {
  longshore: [{ concurrency: 24 }],
  'graphile-worker': [
    { concurrency: 24, localQueue: 500, refetchMs: 10, batchMs: 0 },
    { concurrency: 24, localQueue: 2_000, refetchMs: 10, batchMs: 5 },
    { concurrency: 24, localQueue: 5_000, refetchMs: 10, batchMs: 20 },
    { concurrency: 96, localQueue: 500, refetchMs: 10, batchMs: 0 },
    { concurrency: 96, localQueue: 2_000, refetchMs: 10, batchMs: 5 },
    { concurrency: 96, localQueue: 5_000, refetchMs: 10, batchMs: 20 },
  ],
  'pg-boss': [{}],
  'bullmq (postgres)': [{ concurrency: 24 }, { concurrency: 96 }],
  'bullmq (redis)': [{ concurrency: 24 }, { concurrency: 96 }],
};

/** Settings to try for the latency of an idle server, by contender. */
export const latencySettings: Candidates = {
  longshore: [{ concurrency: 24 }],
  'graphile-worker': [
    { concurrency: 24, localQueue: 0, batchMs: 0 },
    { concurrency: 24, localQueue: 500, batchMs: 0 },
    { concurrency: 24, localQueue: 500, refetchMs: 10, batchMs: 0 },
  ],
  'pg-boss': [{ pollMs: 500 }],
  'bullmq (postgres)': [{ concurrency: 24 }],
  'bullmq (redis)': [{ concurrency: 24 }],
};

/** Settings to try for jobs with durable steps, by contender. */
export const stepSettings: Candidates = {
  longshore: [{ concurrency: 24 }, { concurrency: 96 }],
  dbos: [
    { concurrency: 96, pool: 10, pollMs: 10 },
    { concurrency: 24, pool: 10, pollMs: 10 },
    { concurrency: 96, pool: 24, pollMs: 10 },
    { concurrency: 500, pool: 10, pollMs: 10 },
    { concurrency: 500, pool: 24, pollMs: 10 },
    { concurrency: 96, pool: 10, pollMs: 100 },
  ],
  absurd: [
    { concurrency: 96, pool: 10 },
    { concurrency: 24, pool: 10 },
    { concurrency: 24, pool: 24 },
    { concurrency: 96, pool: 24 },
    { concurrency: 300, pool: 10 },
  ],
};

/**
 * Returns the settings for which `measure` resolves to the shortest time. Measures nothing if there is only one
 * candidate.
 *
 * @throws {RangeError} if `settings` is empty
 */
export async function fastestSettings(
  settings: readonly ServerSettings[],
  measure: (settings: ServerSettings) => Promise<number>,
): Promise<ServerSettings> {
  const [only] = settings;
  if (settings.length === 1 && only !== undefined) return only;
  let best: { settings: ServerSettings; elapsedMs: number } | undefined;
  for (const candidate of settings) {
    const elapsedMs = await measure(candidate);
    if (best === undefined || elapsedMs < best.elapsedMs) best = { settings: candidate, elapsedMs };
  }
  if (best === undefined) throw new RangeError('There are no settings to try');
  return best.settings;
}

/**
 * Returns the contender's fastest settings for draining. Tries at most `settingsTried` settings, with `sweepJobs` jobs
 * each.
 */
export function bestForDraining(
  agent: Agent,
  { settingsTried, sweepJobs: jobs }: Sizes,
): Promise<ServerSettings> {
  return fastestSettings((drainSettings[agent.contender] ?? []).slice(0, settingsTried), async (settings) => {
    await agent.perform('enqueueMany', jobs);
    return agent.perform('drain', jobs, settings);
  });
}

/**
 * Returns the contender's fastest settings for jobs with steps. Tries at most `settingsTried` settings, with a quarter of
 * a round's jobs each.
 */
export function bestForSteps(agent: Agent, sizes: Sizes): Promise<ServerSettings> {
  const jobs = Math.ceil(stepJobsOf(agent.contender, sizes) / 4);
  const candidates = stepSettings[agent.contender] ?? [];
  return fastestSettings(candidates.slice(0, sizes.settingsTried), async (settings) => {
    await agent.perform('enqueueMany', jobs);
    return agent.perform('drainSteps', jobs, stepsPerJob, settings);
  });
}

export function describe(settings: ServerSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
