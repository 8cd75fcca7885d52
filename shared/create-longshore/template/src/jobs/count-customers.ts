import { defineJob, defineRecurringJob, handleJob, type JobHandler } from 'longshore';
import type { Queryable } from '@longshore/resources';
import Type from 'typebox';

export const countCustomers = defineJob({ name: 'count-customers', args: Type.Object({}) });

export function countCustomersHandler(database: Queryable): JobHandler {
  return handleJob(countCustomers, async ({ log }) => {
    const { rows } = await database.query<{ count: number }>(
      'select count(*)::int as count from app.customer',
    );
    const count = rows[0]?.count ?? 0;
    log.info(`There are ${count} customers`);
    return { count };
  });
}

/** Enqueues one job every day at 6:00 UTC, no matter how many servers run. */
export const everyMorning = defineRecurringJob({
  id: 'count-customers-every-morning',
  definition: countCustomers,
  args: {},
  cron: '0 6 * * *',
  timeZone: 'UTC',
});
