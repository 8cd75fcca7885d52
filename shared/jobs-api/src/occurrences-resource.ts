import { InvalidScheduleError, nextOccurrences, type RecurringJob } from '@longshore/jobs';
import type { Clock, RecurringJobs } from '@longshore/jobs/storage';
import { defineResource, type Resource } from '@longshore/resources';
import Type from 'typebox';
import { Time } from './fields.js';

/** A schedule has no end; the collection has this one, because a time takes up to half a millisecond to find. */
const most = 100;

/** `/recurring-jobs/{id}/occurrences`: the next times of a schedule, paused or not. */
export function occurrencesResource(recurring: RecurringJobs, clock: Clock): Resource {
  return defineResource({
    name: 'occurrences',
    description: `The next ${most} times of a schedule, the first first.`,
    key: 'dueAt',
    item: Type.Object({ dueAt: Time }),
    serverSet: ['dueAt'],
    filters: {
      dueAfter: {
        field: 'dueAt',
        match: 'from',
        description: 'Times from this one on, instead of from now on.',
      },
    },
    limits: { max: most },
    sort: [],
    search: [],
    storage: {
      list: async ({ filters, sort, limit, offset }, { parents }) => {
        const schedule = await recurring.find(parents.at(-1)?.id ?? '');
        const from = filters.at(0)?.values[0];
        // A schedule gives the times after one: the millisecond before makes the bound inclusive.
        const after = from === undefined ? new Date(clock.now()) : new Date(Date.parse(String(from)) - 1);
        const times = schedule === null ? [] : upcoming(schedule, after);
        if (sort[0]?.direction === 'desc') times.reverse();
        const items = times.slice(offset, offset + limit).map((time) => ({ dueAt: time.toISOString() }));
        return { items, total: times.length };
      },
    },
  });
}

/** None of a schedule that cannot be read, as it was stored by other ways. */
function upcoming(schedule: RecurringJob, after: Date): Date[] {
  try {
    return nextOccurrences(schedule, most, after);
  } catch (error) {
    if (error instanceof InvalidScheduleError) return [];
    throw error;
  }
}
