/**
 * `node --import tsx acceptance/faults/main.ts [options]`: runs real services on a real Postgres under continuous load,
 * with faults. Exits with 1 if a check fails. See docs/faults.md.
 */
import { TcpProxy } from '@longshore/test-support';
import { Disk } from '../test/system/disk.js';
import { startPostgres } from '../test/system/postgres.js';
import { clusterFaults, copies, copyTables, startCluster } from './cluster.js';
import { faults } from './faults.js';
import { Fleet } from './fleet.js';
import { Load } from './load.js';
import { Observer } from './observer.js';
import { type Options, readOptions } from './options.js';
import { mulberry32 } from './programs/src/random.js';
import { retryFailed } from './remaining-retries.js';
import { report } from './report.js';
import { storm } from './storm.js';
import { judge, tally } from './verdict.js';

async function run(options: Options): Promise<boolean> {
  const isCluster = clusterUrl !== undefined;
  const postgres = await (isCluster
    ? startCluster()
    : startPostgres({ durable: true, ownDisk: options.only.includes('disk-full') }));
  const observer = new Observer(postgres.url);
  const { hostname, port } = new URL(postgres.url);
  const network = await TcpProxy.start(Number(port || 5432), hostname);
  let fleet: Fleet | undefined;
  let load: Load | undefined;
  try {
    fleet = await Fleet.start(network.urlOf(postgres.url), isCluster ? 'citus' : 'none');
    // Sets the limits of the queue `limited`, like the storage's `limitQueue` statement.
    const [limited] = await observer.query<{ id: number }>(
      `insert into longshore.queue (name, concurrency_limit, rate_limit) values ('limited', 5, $1)
       on conflict (name) do update set concurrency_limit = excluded.concurrency_limit, rate_limit = excluded.rate_limit
       returning id`,
      [JSON.stringify({ jobs: 100, periodMs: 1_000, burst: 50 })],
    );
    await observer.query(`insert into longshore.queue_bucket (queue_id, tokens) values ($1, 50)`, [
      limited?.id,
    ]);
    load = new Load(fleet.apiUrls, postgres.url, options.seed, options.rate);
    const stage = { postgres, network, fleet, load, observer, random: mulberry32(options.seed) };
    const { occurrences, breaches } = await storm(stage, options);
    const failedClients = await load.stop();
    await observer.query(`update longshore.recurring_job set paused_at = now(), next_due_at = null`);
    // The checks below report what is unfinished.
    await retryFailed(fleet.apiUrls[0] ?? '', observer).catch(() => undefined);
    await observer.untilDependenciesResolved().catch(() => undefined);
    const busyOrSilent = await observer.busyOrSilentServers();
    const { refused } = load;
    if (isCluster) await copyTables(observer);
    const schema = isCluster ? copies : 'longshore';
    const checks = [
      ...(await judge(observer, load, schema)),
      { property: 'servers on the list that are silent, or run jobs', breaches: busyOrSilent.length },
      {
        property: 'faults without recovery, and late completions that changed something',
        breaches: breaches.length,
      },
      { property: 'processes that ended by themselves', breaches: fleet.endedByThemselves().length },
      { property: 'clients that failed', breaches: failedClients.length },
      { property: 'requests refused or repeated wrongly', breaches: refused.length },
    ];
    const details = [
      ...breaches,
      ...busyOrSilent,
      ...fleet.endedByThemselves(),
      ...failedClients,
      ...refused.slice(0, 20),
    ];
    return report({
      accepted: load.jobs.length,
      tally: await tally(observer, schema),
      occurrences,
      checks,
      details,
    });
  } finally {
    await load?.kill();
    await fleet?.end();
    await observer.close();
    await network.close();
    await postgres.remove();
  }
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

/** URL of the coordinator of the Citus cluster to run on. If it is unset, the suite starts its own Postgres. */
const clusterUrl = process.env['CITUS_URL'];

const all = Object.keys(faults);
const here = (await Disk.isPossible()) ? all : all.filter((fault) => fault !== 'disk-full');
const options = readOptions(clusterUrl === undefined ? here : clusterFaults(clusterUrl, all));
if (options !== null) {
  const again = `--seed ${options.seed}`;
  console.log(`Faults under load, ${again}`);
  process.exitCode = (await run(options)) ? 0 : 1;
}
