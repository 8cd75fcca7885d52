import { InvalidScheduleError, type RecurringJob } from '@longshore/jobs';
import { type Clock, type RecurringJobs, Schedule } from '@longshore/jobs/storage';
import { defineResource, readOnly, type Resource } from '@longshore/resources';
import Type from 'typebox';

/**
 * Maximum number of due times in the list. A limit is needed, because most schedules never end and calculating due
 * times uses CPU time.
 */
const maxOccurrences = 100;

const calculated = 'Due times follow from the schedule: change the recurring job.';

/** `/recurring-jobs/{id}/occurrences`: the next due times of a schedule, even if it is paused. */
export function occurrencesResource(recurring: RecurringJobs, clock: Clock): Resource {
  return defineResource({
    name: 'occurrences',
    description: `The next ${maxOccurrences} due times of a recurring job, earliest first.`,
    key: 'dueAt',
    item: Type.Object({ dueAt: Type.String({ format: 'date-time', description: 'A due time' }) }),
    serverSet: ['dueAt'],
    filters: {
      dueAfter: {
        field: 'dueAt',
        match: 'from',
        description: 'The time from which due times are listed; now by default.',
      },
    },
    limits: { max: maxOccurrences },
    notAllowed: readOnly(calculated),
    storage: {
      list: async ({ filters, sort, limit, offset }, { parents }) => {
        const schedule = await recurring.find(parents.at(-1)?.id ?? '');
        const from = filters.at(0)?.values[0];
        // A schedule's next times exclude the start time; starting a millisecond earlier makes the bound inclusive.
        const after = from === undefined ? new Date(clock.now()) : new Date(Date.parse(String(from)) - 1);
        const times = schedule === null ? [] : await upcoming(schedule, after);
        if (sort[0]?.direction === 'desc') times.reverse();
        const items = times.slice(offset, offset + limit).map((time) => ({ dueAt: time.toISOString() }));
        return { items, total: times.length };
      },
    },
  });
}

/**
 * Returns the next due times; none if the schedule is invalid. A schedule written directly to the database can be
 * invalid.
 */
async function upcoming(job: RecurringJob, after: Date): Promise<Date[]> {
  try {
    return await new Schedule(job).upcomingInSlices(maxOccurrences, after);
  } catch (error) {
    if (error instanceof InvalidScheduleError) return [];
    throw error;
  }
}
