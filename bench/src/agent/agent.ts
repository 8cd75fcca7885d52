import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ContenderName } from '../contenders/index.js';
import { peerNode } from '../peers.js';
import type { TaskAnswer, TaskName, TaskRequest } from './messages.js';
import type { Tasks } from './tasks.js';

const program = fileURLToPath(new URL('main.js', import.meta.url));

export interface AgentOptions {
  readonly contender: ContenderName;
  /** URL of the contender's Postgres or Redis database. */
  readonly url: string;
  /** Directory for CPU profiles; if absent, no profiles are written. */
  readonly profiles?: string | undefined;
}

/** A child process that runs a contender and performs one task at a time. */
export class Agent {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly contender: ContenderName;
  readonly url: string;

  private constructor(child: ChildProcess, { contender, url }: AgentOptions) {
    this.#child = child;
    this.#ended = once(child, 'exit');
    this.contender = contender;
    this.url = url;
  }

  static async start(options: AgentOptions): Promise<Agent> {
    const { contender, url, profiles } = options;
    const profiling = ['--cpu-prof', `--cpu-prof-dir=${profiles}`, '--cpu-prof-interval=500'];
    const child = fork(program, [contender, url], {
      execPath: peerNode(),
      execArgv: ['--enable-source-maps', ...(profiles === undefined ? [] : profiling)],
      // `NO_LOG_SUCCESS` keeps graphile-worker from logging every success.
      env: { ...process.env, NODE_ENV: 'production', NO_LOG_SUCCESS: '1' },
    });
    const agent = new Agent(child, options);
    try {
      await agent.#answer();
      await agent.perform('prepare');
    } catch (error) {
      child.kill(); // otherwise open connections could keep the process alive
      throw error;
    }
    return agent;
  }

  /**
   * Performs a task in the child process and returns its result.
   *
   * @throws {Error} if the task fails or the process ends
   */
  async perform<Name extends TaskName>(
    task: Name,
    ...args: Parameters<Tasks[Name]>
  ): Promise<Awaited<ReturnType<Tasks[Name]>>> {
    const answer = this.#answer();
    this.#child.send({ task, args } satisfies TaskRequest);
    return (await answer) as Awaited<ReturnType<Tasks[Name]>>;
  }

  async stop(): Promise<void> {
    await this.perform('close');
    this.#child.disconnect();
    await this.#ended;
  }

  async #answer(): Promise<unknown> {
    const ended = this.#ended.then(() => Promise.reject(new Error(`The process of ${this.contender} ended`)));
    const [answer] = (await Promise.race([once(this.#child, 'message'), ended])) as [TaskAnswer];
    if (!answer.ok) throw new Error(`${this.contender}: ${answer.error}`);
    return answer.value;
  }
}
