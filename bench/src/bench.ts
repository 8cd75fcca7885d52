import { Agent } from './agent/agent.js';
import type { ContenderName } from './contenders/index.js';
import type { BenchDatabase } from './database.js';
import type { Sample, ScenarioResult } from './result.js';
import type { Sizes } from './sizes.js';
import { perSecond } from './statistics.js';

export interface BenchOptions {
  readonly database: BenchDatabase;
  readonly sizes: Sizes;
  /** Where the processes leave CPU profiles; none if absent. */
  readonly profiles?: string | undefined;
  /** Gets a line about what is going on. */
  readonly note: (line: string) => void;
  /** Called with each database before it is dropped. */
  readonly inspect: (contender: ContenderName, url: string) => Promise<void>;
}

/** What a scenario works with. */
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

  /** Starts each contender in a process and a database of its own, and clears both away when `work` is done. */
  async withAgents<Result>(
    names: readonly ContenderName[],
    work: (...agents: Agent[]) => Promise<Result>,
  ): Promise<Result> {
    const urls: string[] = [];
    const agents: Agent[] = [];
    try {
      for (const contender of names) {
        const url = await this.database.create();
        urls.push(url);
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

  /** One more process on a database that is there. */
  agent(contender: ContenderName, url: string): Promise<Agent> {
    return Agent.start({ contender, url, profiles: this.#options.profiles });
  }

  /** Calls `measure` for one contender after the other, round by round, so that what else the machine does hits all alike. */
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

  /** @param work does so many jobs and returns how long they took, in milliseconds */
  async sample(agent: Agent, jobs: number, work: () => Promise<number>): Promise<Sample> {
    await this.database.settle();
    const before = await this.#processorTimes(agent);
    const elapsedMs = await work();
    const after = await this.#processorTimes(agent);
    const microsecondsEach = (from: number | null, to: number | null): number =>
      (((to ?? NaN) - (from ?? NaN)) * 1_000) / jobs;
    return {
      perSecond: perSecond(jobs, elapsedMs),
      nodeMicroseconds: microsecondsEach(before.node, after.node),
      postgresMicroseconds: microsecondsEach(before.postgres, after.postgres),
    };
  }

  async #processorTimes(agent: Agent): Promise<{ node: number; postgres: number | null }> {
    return { node: await agent.perform('processorTime'), postgres: await this.database.processorTime() };
  }
}

export interface Scenario {
  /** For `--only`. */
  readonly name: string;
  run(bench: Bench): Promise<ScenarioResult>;
}
