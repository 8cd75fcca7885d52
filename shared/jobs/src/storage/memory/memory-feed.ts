import { stateEventsOf } from '../../job/job-event.js';
import { readMeta } from '../../job/meta.js';
import type { FeedPage, FeedRequest, JobFeed } from '../job-feed.js';
import type { Clock } from './clock.js';
import { type JobRecord, toAttempts } from './job-record.js';

/** Looks at every job: memory holds few. */
export class MemoryFeed implements JobFeed {
  readonly #records: () => Iterable<JobRecord>;
  readonly #clock: Clock;

  constructor(records: () => Iterable<JobRecord>, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  async read({ since, spanMs = Infinity, states }: FeedRequest): Promise<FeedPage> {
    const now = this.#clock.now();
    if (since === null) return { events: [], settled: new Date(now), caughtUp: true };
    const until = since.getTime() + spanMs;
    const events = [...this.#records()]
      .flatMap((record) => stateEventsOf({ ...record, ...readMeta(record.meta) }, toAttempts(record)))
      .filter(({ at, state }) => at >= since && at.getTime() < until && states.includes(state))
      .toSorted((one, other) => one.at.getTime() - other.at.getTime());
    const settledMs = Math.max(since.getTime(), Math.min(now, until));
    return { events, settled: new Date(settledMs), caughtUp: until > now };
  }
}
