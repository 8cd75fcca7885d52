import {
  defineJob,
  defineRecurringJob,
  type NewRecurringJob,
  type RecurringJob,
  type RecurringJobOptions,
} from '@longshore/jobs';
import type { FiredRecurringJob, StoredSchedule } from '@longshore/jobs/storage';
import type { Fixture } from './storage-under-test.js';

export const minuteMs = 60_000;

const tick = defineJob({ name: 'tick' });
export const hourly = { definition: tick, args: {}, cron: '0 * * * *' };

type Options = Partial<Omit<RecurringJobOptions, keyof StoredSchedule> & StoredSchedule>;

export class RecurringFixture {
  readonly #fixture: Fixture;

  constructor(fixture: Fixture) {
    this.#fixture = fixture;
  }

  /** Returns the definition of a recurring job with a unique id and queue. */
  describe({ every = null, timeZone = 'UTC', anchor = null, ...options }: Options = {}): NewRecurringJob {
    const queue = this.#fixture.newQueue();
    const { cron = every === null ? hourly.cron : null, ...rest } = options;
    const schedule = { cron, timeZone, every, anchor };
    return defineRecurringJob({ ...hourly, ...schedule, id: `every-${queue}`, queue, ...rest });
  }

  async add(options: Options = {}): Promise<RecurringJob> {
    return this.#fixture.storage.recurring.addOrUpdate(this.describe(options));
  }

  /**
   * Adds a recurring job that became due about `agoMs` milliseconds ago, at a full minute. By default, it is due every
   * minute. If `agoMs` is 0, it is due every hour, so that it does not become due again when a minute begins during the
   * test.
   */
  async addDue(agoMs: number, options: Options = {}): Promise<RecurringJob & { nextDueAt: Date }> {
    const now = await this.#fixture.storage.readClock();
    const nextDueAt = new Date(Math.floor((now.getTime() - agoMs) / minuteMs) * minuteMs);
    const cron = agoMs === 0 ? `${nextDueAt.getUTCMinutes()} * * * *` : '* * * * *';
    const { id } = await this.add({ ...(options.every === undefined && { cron }), ...options });
    await this.#fixture.setNextDue(id, nextDueAt);
    return { ...(await this.find(id)), nextDueAt };
  }

  /**
   * Fires the due recurring jobs and returns the result for one of them.
   *
   * @throws {Error} if the recurring job with this id did not fire
   */
  async fire(id: string): Promise<FiredRecurringJob> {
    const { fired } = await this.#fixture.storage.recurring.fireDue(1_000);
    const own = fired.find((entry) => entry.id === id);
    if (own === undefined) throw new Error(`${id} did not fire`);
    return own;
  }

  async find(id: string): Promise<RecurringJob> {
    const found = await this.#fixture.storage.recurring.find(id);
    if (found === null) throw new Error(`There is no recurring job ${id}`);
    return found;
  }

  /** Completes up to ten ready jobs of a queue. */
  async finish(queue: string): Promise<void> {
    const { id } = await this.#fixture.register(queue);
    const claimed = await this.#fixture.claim(id, queue);
    await this.#fixture.storage.completions.complete(
      claimed.map(({ claim }) => ({ claim, outcome: { kind: 'done', result: 'null' } })),
    );
  }
}
