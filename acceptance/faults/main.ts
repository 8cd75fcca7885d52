/**
 * `node --import tsx acceptance/faults/main.ts [options]`: runs real services on a real Postgres under continuous
 * load, with faults. Exits with 0 only if every accepted job was handled as promised. See docs/faults.md.
 */
import { eventually } from '../test/system/eventually.js';
import { startPostgres } from '../test/system/postgres.js';
import { faults } from './faults.js';
import { Fleet } from './fleet.js';
import { Load } from './load.js';
import { Observer } from './observer.js';
import { type Options, readOptions } from './options.js';
import { mulberry32 } from './programs/src/random.js';
import { report } from './report.js';
import { storm } from './storm.js';
import { judge, tally } from './verdict.js';

/** How long the last jobs may take after the last fault. */
const settleMs = 180_000;

async function run(options: Options): Promise<boolean> {
  const postgres = await startPostgres({ durable: true });
  const observer = new Observer(postgres.url);
  let fleet: Fleet | undefined;
  let load: Load | undefined;
  try {
    fleet = await Fleet.start(postgres.url);
    // Does what `limitQueue` does.
    await observer.query(
      `with queue as (
         insert into longshore.queue (name, concurrency_limit, rate_limit) values ('limited', 5, $1)
         on conflict (name) do update set concurrency_limit = excluded.concurrency_limit, rate_limit = excluded.rate_limit
         returning id
       )
       insert into longshore.queue_bucket (queue_id, tokens) select id, 50 from queue`,
      [JSON.stringify({ jobs: 100, periodMs: 1_000, burst: 50 })],
    );
    load = new Load(fleet.apiUrls, postgres.url, options.seed);
    const stage = { postgres, fleet, load, observer, random: mulberry32(options.seed) };
    const { occurrences, breaches } = await storm(stage, options);
    const failedEnqueuers = await load.stop();
    await observer.query(`update longshore.recurring_job set paused_at = now(), next_due_at = null`);
    const settled = eventually(
      async () => (await observer.unfinished()).length === 0 && (await observer.unsettled()) === 0,
      settleMs,
    );
    await settled.catch(() => undefined); // the checks report what is left
    await observer.allSaid();
    const { refused } = load;
    const checks = [
      ...(await judge(observer, load)),
      {
        property: 'faults without recovery, and late completions that changed something',
        breaches: breaches.length,
      },
      { property: 'processes that ended by themselves', breaches: fleet.endedByThemselves().length },
      { property: 'enqueuers that failed', breaches: failedEnqueuers.length },
      { property: 'requests refused or repeated wrongly', breaches: refused.length },
    ];
    const details = [...breaches, ...fleet.endedByThemselves(), ...failedEnqueuers, ...refused.slice(0, 20)];
    return report({
      accepted: load.jobs.length,
      tally: await tally(observer),
      occurrences,
      checks,
      details,
    });
  } finally {
    await load?.kill();
    await fleet?.end();
    await observer.close();
    await postgres.remove();
  }
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

const options = readOptions(Object.keys(faults));
if (options !== null) {
  const again = `--seed ${options.seed}`;
  console.log(`Faults under load, ${again}`);
  process.exitCode = (await run(options)) ? 0 : 1;
}
