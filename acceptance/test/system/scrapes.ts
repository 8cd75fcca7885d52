import { eventually } from '@longshore/test-support';
import { getJob, postTest } from './jobs.js';
import type { Service, ServiceName } from './service.js';
import { type System, useSystem } from './system.js';

/** A metric as a scrape describes it. */
export interface Metric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  /** The names of its labels, without those of histogram buckets. */
  readonly labels: readonly string[];
}

/** The three services, which have done something that their metrics count. */
export interface Scrapes {
  readonly system: System;
  readonly services: Readonly<Record<ServiceName, Service>>;
  /** Scrapes a service. Rejects if it does not answer with 200. */
  read(name: ServiceName, path: string): Promise<string>;
}

/** Starts the services before the suite's tests, and stops them after them. */
export function useScrapes(): () => Scrapes {
  const system = useSystem({ API_TEST_JOB_MS: '20', WORKER_VERSION: '4.2' }, { durable: true });
  let scrapes: Scrapes | undefined;
  before(async () => {
    const [api, worker, dashboard] = await Promise.all(
      (['api', 'worker', 'dashboard'] as const).map((name) => system().start(name)),
    );
    if (api === undefined || worker === undefined || dashboard === undefined) throw new Error('not started');
    const services = { api, worker, dashboard };
    const { location } = await postTest(api.url);
    await eventually(
      () => getJob(location),
      ({ state }) => state === 'done',
    );
    const { id } = (await (
      await fetch(`${api.url}/api/v1/jobs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'test', args: { waitMs: 1 }, queue: 'consumed-by-nobody' }),
      })
    ).json()) as { id: string };
    await (await fetch(`${api.url}/api/v1/jobs/${id}`)).arrayBuffer();
    await (await fetch(`${dashboard.url}/job-dashboard/queues`)).arrayBuffer();
    const read = async (name: ServiceName, path: string): Promise<string> => {
      const response = await fetch(`${services[name].url}${path}`);
      if (response.status !== 200) throw new Error(`${name}${path}: ${response.status}`);
      return response.text();
    };
    scrapes = { system: system(), services, read };
  });
  return () => {
    if (scrapes === undefined) throw new Error('The services run only while tests run.');
    return scrapes;
  };
}

/** Returns the metrics of a scrape, those without samples included. */
export function parseMetrics(text: string): readonly Metric[] {
  return text
    .split('# HELP ')
    .slice(1)
    .map((block) => {
      const [, name = '', help = '', type = ''] = /^(\S+) (.*)\n# TYPE \S+ (\w+)/.exec(block) ?? [];
      const labels = new Set(
        block
          .split('\n')
          .filter((line) => line.startsWith(name) && !line.startsWith(`${name} ${help}`))
          .flatMap((line) => [...line.matchAll(/[{,](\w+)="/g)].map(([, label = '']) => label)),
      );
      labels.delete('le');
      return { name, help, type, labels: [...labels] };
    });
}
