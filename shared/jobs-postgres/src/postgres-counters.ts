import { type JobState, jobStates, type StateCounts } from '@longshore/jobs';
import type { Database } from './database.js';
import { SameTick } from './same-tick.js';
import { type CountRow, selectCounts, selectTotals } from './sql/counts.js';

/** How many jobs of each state the queues hold. With 1000 queues, to ask for all of it takes 10 ms, so nobody asks for more than is needed. */
export class PostgresCounters {
  readonly #database: Database;
  readonly #sameTick = new SameTick();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Over all queues. */
  totals(): Promise<StateCounts> {
    return this.#sameTick.share('totals', async () => {
      const rows = await this.#database.query<Omit<CountRow, 'queue_id'>>(selectTotals);
      return sumByState(rows);
    });
  }

  /** Of each of these queues that has ever held any, or of all. */
  async byQueue(queueIds?: readonly number[]): Promise<Map<number, StateCounts>> {
    const counts = new Map<number, StateCounts>();
    for (const row of await this.rows(null, queueIds)) {
      const ofQueue = counts.get(row.queue_id) ?? noCounts();
      counts.set(row.queue_id, ofQueue);
      ofQueue[row.state] += Number(row.jobs);
    }
    return counts;
  }

  /** The queues that hold jobs in each of the states, and how many. */
  async holding(
    states: readonly JobState[],
    queueIds?: readonly number[],
  ): Promise<Map<JobState, Map<number, number>>> {
    const counts = new Map<JobState, Map<number, number>>(states.map((state) => [state, new Map()]));
    if (states.length === 0) return counts;
    for (const { queue_id: id, state, jobs } of await this.rows(states, queueIds))
      if (Number(jobs) > 0) counts.get(state)?.set(id, Number(jobs));
    return counts;
  }

  /** One for each state that a queue has ever held jobs in. */
  rows(states: readonly JobState[] | null = null, queueIds?: readonly number[]): Promise<CountRow[]> {
    const values = [states, queueIds ?? null];
    return this.#sameTick.share(JSON.stringify(values), () =>
      this.#database.query<CountRow>(selectCounts, values),
    );
  }
}

const none = Object.fromEntries(jobStates.map((state) => [state, 0])) as StateCounts;

export function noCounts(): StateCounts {
  return { ...none };
}

function sumByState(rows: readonly Pick<CountRow, 'state' | 'jobs'>[]): StateCounts {
  const sums = noCounts();
  for (const { state, jobs } of rows) sums[state] += Number(jobs);
  return sums;
}
