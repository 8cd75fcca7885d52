import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually, httpClient } from '@longshore/test-support';
import { house } from '../house/house.js';
import { freePort } from '../system/service.js';

/** The directory of the rules. */
export const rulesDirectory = path.join(house, 'ops/prometheus');

/** Runs promtool in the directory of the rules, and returns its output. Rejects with the output if it finds a problem. */
export async function promtool(args: readonly string[], input = ''): Promise<string> {
  const running = promisify(execFile)('promtool', [...args], { cwd: rulesDirectory });
  running.child.stdin?.end(input);
  const { stdout, stderr } = await running.catch((error: unknown) => {
    const { stdout: found, stderr: said } = error as { stdout: string; stderr: string };
    throw new Error(`promtool ${args.join(' ')}:\n${found}${said}`);
  });
  return stdout + stderr;
}

/** A job of Prometheus: what it scrapes, and where. */
export interface Target {
  readonly job: string;
  readonly url: string;
  readonly path: string;
}

/** A series that a query found, and its current value. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

export interface Prometheus {
  /** Evaluates a query. Rejects if Prometheus cannot parse it. */
  query(text: string): Promise<readonly Sample[]>;
  stop(): Promise<void>;
}

/** Starts a Prometheus with the rules of this repository, that scrapes these targets once a second. */
export async function startPrometheus(targets: readonly Target[]): Promise<Prometheus> {
  const directory = await mkdtemp(path.join(tmpdir(), 'longshore-prometheus-'));
  const port = await freePort();
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yml', 'alerts.yml'].map((file) => path.join(rulesDirectory, file)),
    scrape_configs: targets.map(({ job, url, path: metricsPath }) => ({
      job_name: job,
      metrics_path: metricsPath,
      static_configs: [{ targets: [new URL(url).host] }],
    })),
  };
  const file = path.join(directory, 'prometheus.yml');
  await writeFile(file, JSON.stringify(config)); // JSON is YAML
  const child = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${directory}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const kill = (): boolean => child.kill('SIGKILL');
  process.on('exit', kill);
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    kill();
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  const client = httpClient(`http://127.0.0.1:${port}`);
  const query = async (text: string): Promise<readonly Sample[]> => {
    const response = await client.get(`/api/v1/query?query=${encodeURIComponent(text)}`);
    const answer = response.json() as { error?: string; data?: { result: readonly Sample[] } };
    if (answer.data === undefined) throw new Error(`${text}: ${answer.error}`);
    return answer.data.result;
  };
  await eventually(async () => (await client.get('/-/ready')).status === 200);
  return { query, stop };
}
