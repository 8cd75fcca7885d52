import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { defineJob, defineRecurringJob, handleJob, type JobHandler } from '@longshore/jobs';
import type { Queryable } from '@longshore/resources';
import Type from 'typebox';

/** Reports the number and the total value of each store's orders on one day. */
export const nightlyReport = defineJob({
  name: 'nightly-report',
  queue: 'reports',
  args: Type.Object(
    {
      day: Type.Optional(
        Type.String({ pattern: String.raw`^\d{4}-\d{2}-\d{2}$`, description: 'Default: yesterday, in UTC.' }),
      ),
    },
    { additionalProperties: false },
  ),
});

/** Runs at 00:30 UTC and reports on the previous day in UTC. */
export const everyNight = defineRecurringJob({
  id: 'nightly-report',
  definition: nightlyReport,
  args: {},
  cron: '30 0 * * *',
});

interface StoreTotal {
  readonly store: string;
  readonly orders: number;
  readonly total: string;
}

/**
 * Creates a handler that writes `report-{day}.csv`.
 *
 * @param directory where to write the reports; created if missing
 */
export function nightlyReportHandler(database: Queryable, directory: string): JobHandler {
  return handleJob(nightlyReport, async ({ args }) => {
    const day = args.day ?? (await yesterday(database));
    const { rows } = await database.query<StoreTotal>(
      `select store_id as store, count(*)::int as orders, sum(total)::text as total from shop.order
       where created_at >= $1::date::timestamp at time zone 'UTC'
         and created_at < ($1::date + 1)::timestamp at time zone 'UTC'
       group by store_id order by store_id`,
      [day],
    );
    const file = path.resolve(directory, `report-${day}.csv`);
    await mkdir(path.dirname(file), { recursive: true });
    const lines = rows.map(({ store, orders, total }) => `${store},${orders},${total}`);
    await writeFile(file, ['store,orders,total', ...lines, ''].join('\n'));
    return { file, stores: rows.length };
  });
}

/** Returns the previous day in UTC. Uses the database's clock, because that clock also sets `created_at`. */
async function yesterday(database: Queryable): Promise<string> {
  const { rows } = await database.query<{ day: string }>(
    `select ((now() at time zone 'UTC')::date - 1)::text as day`,
  );
  return rows[0]?.day ?? '';
}
