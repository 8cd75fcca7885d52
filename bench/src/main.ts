/** `make bench`: measures Longshore and its peers on a local Postgres. See `bench/README.md`. */
import { writeFile } from 'node:fs/promises';
import { Bench } from './bench.js';
import { available } from './contenders/index.js';
import { BenchDatabase } from './database.js';
import { BenchRedis } from './redis.js';
import { drawResults } from './chart.js';
import { describeEnvironment } from './environment.js';
import { type Options, readOptions, usage } from './options.js';
import { installPeers } from './peers.js';
import { formatEnvironment, formatResult, formatStatement } from './report.js';
import { scenarios } from './scenarios/index.js';

let interrupted = false;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function run(options: Options): Promise<void> {
  const peers = await installPeers({ all: !options.smoke });
  const redis = new BenchRedis();
  const contenders = available({ all: !options.smoke, hasRedis: await BenchRedis.isInstalled() });
  const database = await BenchDatabase.start(options);
  const interrupt = (): void => {
    interrupted = true; // keeps errors caused by the interruption from being reported
    void Promise.all([database.stop(), redis.stop()]).finally(() => process.exit(130));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt);
  try {
    const environment = await describeEnvironment(database, peers, contenders);
    say(formatEnvironment(environment));
    if (options.smoke) say('\nA smoke run: it shows that everything works; its numbers mean nothing.');
    const bench = new Bench({
      database,
      redis,
      contenders,
      sizes: options.sizes,
      profiles: options.profiles,
      note: (line) => void process.stderr.write(`… ${line}\n`),
      inspect: async (contender, url) => {
        if (!options.statements || contender !== 'longshore') return;
        say(
          ['\nThe dearest statements:', ...(await database.statements(url)).map(formatStatement)].join('\n'),
        );
      },
    });
    const results = [];
    for (const scenario of scenarios.filter(({ name }) => options.only.includes(name))) {
      bench.note(scenario.name);
      const result = await scenario.run(bench);
      say(formatResult(result, !options.smoke));
      results.push({ scenario: scenario.name, ...result });
    }
    if (options.svg !== undefined) await writeFile(options.svg, drawResults(results, environment));
    if (options.json !== undefined) {
      const report = { environment, smoke: options.smoke, sizes: options.sizes, results };
      await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
    }
  } finally {
    await Promise.all([database.stop(), redis.stop()]);
  }
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options.help) say(usage);
  else await run(options);
} catch (error) {
  if (!interrupted) console.error(error);
  process.exitCode = 1;
}
