import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { house } from './house/house.js';
import { parseMetrics, type Metric, useScrapes } from './system/scrapes.js';
import type { ServiceName } from './system/service.js';

/** A row of a table in docs/metrics.md. */
interface Row extends Metric {
  readonly services: readonly string[];
}

/** Returns the rows of the table under a heading of docs/metrics.md. */
async function documented(heading: string): Promise<readonly Row[]> {
  const page = await readFile(path.join(house, 'docs/metrics.md'), 'utf8');
  const [, section = ''] = page.split(`## ${heading}\n`);
  const [table = ''] = section.split('\n## ');
  return [...table.matchAll(/^\| `(longshore_\w+)` +\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|$/gm)].map(
    ([, name = '', type = '', labels = '', services = '', help = '']) => ({
      name,
      type: type.trim(),
      labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
      services: services.trim() === 'all' ? ['api', 'worker', 'dashboard'] : services.trim().split(', '),
      help: help.trim(),
    }),
  );
}

const services = ['api', 'worker', 'dashboard'] as const satisfies ServiceName[];

const own = (text: string): readonly Metric[] =>
  parseMetrics(text).filter(({ name }) => name.startsWith('longshore_'));
const described = (metrics: readonly Metric[]): readonly string[] =>
  metrics.map(({ name, type, help }) => `${name} (${type}): ${help}`).toSorted();
const labelled = (metrics: readonly Metric[]): ReadonlySet<string> =>
  new Set(metrics.flatMap(({ name, labels }) => labels.map((label) => `${name} ${label}`)));

describe('The metrics of the services', () => {
  const scrapes = useScrapes();

  for (const name of services)
    it(`of the ${name} are exactly those in docs/metrics.md`, async () => {
      const rows = await documented('Metrics of a process');
      const scraped = own(await scrapes().read(name, '/metrics'));
      expect(described(scraped)).to.deep.equal(described(rows.filter((row) => row.services.includes(name))));
    });

  it('of a process have exactly the labels in docs/metrics.md', async () => {
    const rows = await documented('Metrics of a process');
    const texts = await Promise.all(services.map((name) => scrapes().read(name, '/metrics')));
    expect(labelled(texts.flatMap(own))).to.deep.equal(labelled(rows));
  });

  it('of the storage are exactly those in docs/metrics.md, with their labels', async () => {
    const rows = await documented('Metrics of the storage');
    const scraped = own(await scrapes().read('worker', '/metrics/storage'));
    expect(described(scraped)).to.deep.equal(described(rows));
    expect(labelled(scraped)).to.deep.equal(labelled(rows));
  });

  it('of the storage are the same in every service', async () => {
    const seen = await Promise.all(services.map((name) => scrapes().read(name, '/metrics/storage')));
    const jobs = seen.map((text) => text.split('\n').filter((line) => line.startsWith('longshore_jobs')));
    expect(jobs[0]).to.include('longshore_jobs{state="done"} 1');
    expect(jobs[1]).to.deep.equal(jobs[0]);
    expect(jobs[2]).to.deep.equal(jobs[0]);
  });

  it('count requests of the api and of the dashboard by their routes', async () => {
    await eventually(
      () => scrapes().read('api', '/metrics'),
      (text) =>
        text.includes('longshore_http_requests_total{method="GET",route="/api/v1/jobs/{id}",status="200"}'),
    );
    await eventually(
      () => scrapes().read('dashboard', '/metrics'),
      (text) => text.includes('route="/job-dashboard/queues",status="200"}'),
    );
  });

  describe('while Postgres is down', () => {
    before(() => scrapes().system.postgres.stop());
    after(() => scrapes().system.postgres.start());

    for (const name of services)
      it(`of the ${name} say so, and everything else that they know`, async () => {
        const text = await eventually(
          () => scrapes().read(name, '/metrics'),
          (seen) => seen.includes('longshore_storage_up 0'),
        );
        for (const metric of [
          'process_resident_memory_bytes ',
          'longshore_http_requests_total{',
          'longshore_pool_',
        ])
          expect(text).to.contain(`\n${metric}`);
      });

    it('of the storage are absent', async () => {
      const text = await eventually(
        () => scrapes().read('dashboard', '/metrics/storage'),
        (seen) => !seen.includes('longshore_jobs'),
      );
      expect(text).to.match(/^longshore_storage_failed_reads [1-9]/m);
    });
  });
});
