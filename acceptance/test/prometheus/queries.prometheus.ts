import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { house } from '../house/house.js';
import { useScrapes } from '../system/scrapes.js';
import { type Prometheus, promtool, rulesDirectory, startPrometheus } from './prometheus.js';

interface Query {
  readonly place: string;
  readonly text: string;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

const dashboard = JSON.parse(
  await readFile(path.join(house, 'ops/grafana/longshore.json'), 'utf8'),
) as Dashboard;

/** Returns what a page writes as code, such as a query, and each line of its blocks of SQL. */
async function codeOf(name: string): Promise<{ place: string; text: string }[]> {
  const page = await readFile(path.join(house, name), 'utf8');
  const lines = [...page.matchAll(/^```sql\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block.trim().split('\n'),
  );
  const inline = page.replaceAll(/^```.*?^```$/gms, '').matchAll(/`([^`]+)`/g);
  return [...lines, ...Array.from(inline, ([, text = '']) => text)].map((text) => ({ place: name, text }));
}

const alerts = await codeOf('docs/alerts.md');
const sizing = await codeOf('docs/sizing.md');
const operations = await codeOf('docs/operations.md');

const panelQueries: readonly Query[] = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ place: `panel "${title}"`, text: withoutVariables(expr) })),
);
const runbookQueries: readonly Query[] = [...alerts, ...sizing].filter(
  ({ text }) => /longshore[_:]|nodejs_|process_|up\{/.test(text) && !text.startsWith('select '),
);
const statements = [
  ...alerts.filter(({ text }) => text.startsWith('select ')),
  ...sizing.filter(({ text }) => /^(?:select|alter system) /.test(text)),
  // Others name what only an example has.
  ...operations.filter(({ text }) => /^select .* from pg_stat_/.test(text)),
];
const requests = alerts.flatMap(({ text }) => /^GET (\/\S+)$/.exec(text)?.[1] ?? []);

/** Replaces Grafana's variables as it does itself. */
function withoutVariables(query: string): string {
  return query.replaceAll('$__rate_interval', '1m').replaceAll(/\$\w+/g, '.*');
}

/** Returns the metrics that a query names, recorded ones included. */
function metricsIn({ text }: Query): string[] {
  const withoutTexts = text.replaceAll(/"[^"]*"/g, '""');
  return [...new Set(withoutTexts.match(/\b(?:[a-z]+:)?(?:longshore|nodejs|process)[_:][a-z\d_:]+|\bup\b/g))];
}

/** Returns the labels that a query names: in selectors, groupings and matches. */
function labelsIn({ text }: Query): string[] {
  const selected = [...text.matchAll(/[{,](\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label);
  const grouped = [...text.matchAll(/\b(?:by|on|without) \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  );
  return [...new Set([...selected, ...grouped])].filter((label) => label !== '');
}

describe('Prometheus, scraping the services', () => {
  const scrapes = useScrapes();
  let prometheus: Prometheus;
  const labelsOf = new Map<string, ReadonlySet<string>>();

  before(async () => {
    const { api, worker, dashboard: shown } = scrapes().services;
    prometheus = await startPrometheus([
      { job: 'longshore-api', url: api.url, path: '/metrics' },
      { job: 'longshore-worker', url: worker.url, path: '/metrics' },
      { job: 'longshore-dashboard', url: shown.url, path: '/metrics' },
      { job: 'longshore-storage', url: shown.url, path: '/metrics/storage' },
    ]);
    // The rules need a rate, and so two scrapes.
    await eventually(
      () => prometheus.query('job:longshore_http_request_seconds:p99_5m >= 0'),
      (samples) => samples.length > 0,
    );
    await eventually(
      () => prometheus.query('type:longshore_attempts_failed:rate10m >= 0'),
      (samples) => samples.length > 0,
    );
    for (const { metric } of await prometheus.query('{__name__!=""}')) {
      const { __name__: name = '', ...labels } = metric;
      labelsOf.set(name, new Set([...(labelsOf.get(name) ?? []), ...Object.keys(labels)]));
    }
  });
  after(() => prometheus.stop());

  it('reaches every target', async () => {
    const up = await prometheus.query('up == 1');
    expect(up.map(({ metric }) => metric['job'] ?? '').toSorted()).to.deep.equal([
      'longshore-api',
      'longshore-dashboard',
      'longshore-storage',
      'longshore-worker',
    ]);
  });

  for (const { place, text } of [...panelQueries, ...runbookQueries])
    it(`can evaluate ${text} (${place}), and has its metrics and labels`, async () => {
      await prometheus.query(text);
      const metrics = metricsIn({ place, text });
      expect(metrics, 'metrics in the query').not.to.have.length(0);
      expect(
        metrics.filter((name) => !labelsOf.has(name)),
        'unknown metrics',
      ).to.deep.equal([]);
      const labels = new Set(metrics.flatMap((name) => [...(labelsOf.get(name) ?? [])]));
      expect(
        labelsIn({ place, text }).filter((label) => !labels.has(label)),
        'unknown labels',
      ).to.deep.equal([]);
    });

  it('has the metrics and labels of all rules', async () => {
    for (const file of ['rules.yml', 'alerts.yml']) {
      const text = await readFile(path.join(rulesDirectory, file), 'utf8');
      const rules = text.replaceAll(/^ *#.*$|runbook_url:.*$|summary:.*$/gm, '');
      const metrics = metricsIn({ place: file, text: rules });
      expect(metrics.filter((name) => !labelsOf.has(name))).to.deep.equal([]);
    }
  });

  it('fills the variables of the dashboard', async () => {
    for (const { name, definition } of dashboard.templating.list) {
      if (definition === undefined) continue; // the choice of the data source
      const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(definition) ?? [];
      expect(labelsOf.get(metric) ?? [], name).to.include(label);
    }
  });

  it('evaluates every rule without an error', async () => {
    const failed = await prometheus.query('prometheus_rule_evaluation_failures_total > 0');
    expect(failed).to.deep.equal([]);
  });

  for (const [name, metricsPath] of [
    ['api', '/metrics'],
    ['worker', '/metrics'],
    ['dashboard', '/metrics'],
    ['dashboard', '/metrics/storage'],
  ] as const)
    it(`gets metrics from ${metricsPath} of the ${name} that follow its rules of names`, async () => {
      expect(await promtool(['check', 'metrics'], await scrapes().read(name, metricsPath))).to.equal('');
    });

  for (const { place, text } of statements)
    it(`is not needed for ${text} (${place}), which Postgres runs`, async () => {
      const client = new pg.Client(scrapes().system.postgres.url);
      await client.connect();
      try {
        await client.query(text);
      } finally {
        await client.end();
      }
    });

  it('is not needed for the requests in docs/alerts.md, which the services answer', async () => {
    expect(requests).to.have.length.of.at.least(3);
    const { api } = scrapes().services;
    const answers = await Promise.all(requests.map(async (url) => (await fetch(`${api.url}${url}`)).status));
    expect(new Set(answers)).to.deep.equal(new Set([200]));
  });
});
