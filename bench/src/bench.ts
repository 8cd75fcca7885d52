import { Agent } from './agent/agent.js';
import { type ContenderName, isOnRedis } from './contenders/index.js';
import type { BenchDatabase } from './database.js';
import type { BenchRedis } from './redis.js';
import type { Sample, ScenarioResult } from './result.js';
import type { Sizes } from './sizes.js';
import { perSecond } from './statistics.js';

export interface BenchOptions {
  readonly database: BenchDatabase;
  readonly redis: BenchRedis;
  /** The contenders that take part in this run. */
  readonly contenders: readonly ContenderName[];
  readonly sizes: Sizes;
  /** Directory for CPU profiles; if absent, no profiles are written. */
  readonly profiles?: string | undefined;
  /** Called with progress messages. */
  readonly note: (line: string) => void;
  /** Called with each contender's database after the measurements, before the database is dropped. */
  readonly inspect: (contender: ContenderName, url: string) => Promise<void>;
}

/** Provides a scenario with the database, the sizes and the contenders' processes. */
export class Bench {
  readonly database: BenchDatabase;
  readonly sizes: Sizes;
  readonly note: (line: string) => void;
  readonly inspect: BenchOptions['inspect'];
  readonly #options: BenchOptions;

  constructor(options: BenchOptions) {
    this.#options = options;
    this.database = options.database;
    this.sizes = options.sizes;
    this.note = options.note;
    this.inspect = options.inspect;
  }

  /** Returns the `names` that take part in this run. */
  among(names: readonly ContenderName[]): ContenderName[] {
    return names.filter((name) => this.#options.contenders.includes(name));
  }

  /**
   * Starts each contender in its own process with its own database. When `work` has ended, stops the processes and
   * drops the Postgres databases.
   */
  async withAgents<Result>(
    names: readonly ContenderName[],
    work: (...agents: Agent[]) => Promise<Result>,
  ): Promise<Result> {
    const urls: string[] = [];
    const agents: Agent[] = [];
    try {
      for (const contender of names) {
        const url = await (isOnRedis(contender) ? this.#options.redis : this.database).create();
        if (!isOnRedis(contender)) urls.push(url);
        agents.push(await this.agent(contender, url));
      }
      const result = await work(...agents);
      for (const agent of agents) await this.inspect(agent.contender, agent.url);
      return result;
    } finally {
      await Promise.all(agents.map((agent) => agent.stop()));
      for (const url of urls) await this.database.drop(url);
    }
  }

  /** Starts a process that runs the contender on an existing database. */
  agent(contender: ContenderName, url: string): Promise<Agent> {
    return Agent.start({ contender, url, profiles: this.#options.profiles });
  }

  /**
   * Measures each subject once per round, so that other load on the machine affects all subjects alike. Returns each
   * subject's measurements, one per round.
   */
  async interleave<Subject, Measured>(
    subjects: readonly Subject[],
    measure: (subject: Subject) => Promise<Measured>,
  ): Promise<Map<Subject, Measured[]>> {
    const results = new Map<Subject, Measured[]>(subjects.map((subject) => [subject, []]));
    for (let round = 0; round < this.sizes.rounds; round++) {
      for (const [subject, values] of results) values.push(await measure(subject));
    }
    return results;
  }

  /**
   * Measures the throughput of `work` and the CPU time per job.
   *
   * @param jobs number of jobs, or of steps if `work` is measured by them
   * @param work enqueues or runs exactly `jobs` jobs or steps and resolves to the elapsed time, in milliseconds
   */
  async sample(agent: Agent | readonly Agent[], jobs: number, work: () => Promise<number>): Promise<Sample> {
    const agents = [agent].flat();
    await this.database.settle();
    const before = await this.#processorTimes(agents);
    const elapsedMs = await work();
    const after = await this.#processorTimes(agents);
    const microsecondsEach = (from: number | null, to: number | null): number =>
      (((to ?? NaN) - (from ?? NaN)) * 1_000) / jobs;
    return {
      perSecond: perSecond(jobs, elapsedMs),
      nodeMicroseconds: microsecondsEach(before.node, after.node),
      storeMicroseconds: microsecondsEach(before.store, after.store),
    };
  }

  async #processorTimes(agents: readonly Agent[]): Promise<{ node: number; store: number | null }> {
    const times = await Promise.all(agents.map((agent) => agent.perform('processorTime')));
    const store = agents.some(({ contender }) => isOnRedis(contender)) ? this.#options.redis : this.database;
    return { node: times.reduce((sum, time) => sum + time, 0), store: await store.processorTime() };
  }
}

export interface Scenario {
  /** The name for `--only`. */
  readonly name: string;
  /** Whether a smoke run skips the scenario, to keep CI short. `--only` overrides this. */
  readonly isLeftOutOfSmoke?: boolean;
  run(bench: Bench): Promise<ScenarioResult>;
}
