import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { house, readSource } from '../house/house.js';
import { type Manifest, render } from './manifest.js';

const file = path.join(house, 'ops/kubernetes/monitoring/prometheus-rule.yaml');

/** The object with the rules and alerts of `ops/prometheus`, the only place to change them. */
async function ruleObject(): Promise<Manifest> {
  const sources = ['rules.yml', 'alerts.yml'].map((name) => readSource(`ops/prometheus/${name}`));
  const groups = (await Promise.all(sources)).flatMap(
    (text) => (parse(text) as { groups: unknown[] }).groups,
  );
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'longshore' },
    spec: { groups },
  };
}

/**
 * After a change to the rules or alerts, update the object with `WRITE_RULES=1 make test-kubernetes`.
 */
describe('The rules for the Prometheus Operator', () => {
  let manifests: readonly Manifest[];
  before(async () => {
    if (process.env['WRITE_RULES'] !== undefined) {
      const head =
        '# Made from ops/prometheus by `WRITE_RULES=1 make test-kubernetes`: change the rules there.\n';
      await writeFile(file, head + stringify(await ruleObject(), { lineWidth: 0, singleQuote: true }));
    }
    manifests = await render('overlays/production');
  });
  const specOf = (kind: string): unknown => manifests.find((manifest) => manifest.kind === kind)?.spec;

  it('are those of ops/prometheus', async () => {
    expect(specOf('PrometheusRule')).to.deep.equal((await ruleObject()).spec);
  });

  it('find the same jobs as the configuration of Prometheus in ops/prometheus', async () => {
    const { podMetricsEndpoints, selector } = specOf('PodMonitor') as {
      podMetricsEndpoints: readonly {
        relabelings: readonly { targetLabel: string; replacement: string }[];
      }[];
      selector: { matchExpressions: readonly { values: readonly string[] }[] };
    };
    const relabelings = podMetricsEndpoints.flatMap((endpoint) => endpoint.relabelings);
    const name = relabelings.find(({ targetLabel }) => targetLabel === 'job')?.replacement;
    const services = selector.matchExpressions[0]?.values ?? [];
    const { staticConfigs } = specOf('ScrapeConfig') as {
      staticConfigs: readonly { labels: { job: string } }[];
    };
    const jobs = [
      ...services.map((service) => name?.replace('$1', service)),
      ...staticConfigs.map(({ labels }) => labels.job),
    ];
    const configuration = parse(await readSource('ops/prometheus/prometheus.yml')) as {
      scrape_configs: readonly { job_name: string }[];
    };
    expect(jobs).to.have.members(configuration.scrape_configs.map((scraped) => scraped.job_name));
  });
});
