import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { house, readSource } from '../house/house.js';
import { type Manifest, problemsOf, render } from './manifest.js';

interface Container {
  readonly name: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly securityContext: object;
  readonly resources: { readonly limits?: object; readonly requests?: object };
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}

interface Probe {
  readonly httpGet: { readonly path: string };
}

interface Pod {
  readonly securityContext: object;
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly [Container];
  readonly volumes: readonly {
    readonly secret?: { readonly items: readonly { readonly path: string }[] };
    readonly emptyDir?: object;
  }[];
}

type Labels = Readonly<Record<string, string>>;

interface Workload extends Manifest {
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: Pod };
  };
}

const secretDirectory = '/run/secrets/longshore/';

/** How long a service takes at most, after its requests and jobs, to release everything else, in seconds. */
const releaseSeconds = 15;

const overlays = await readdir(path.join(house, 'ops/kubernetes/overlays'));

for (const overlay of overlays) {
  describe(`The overlay ${overlay} for Kubernetes`, () => {
    let manifests: readonly Manifest[];
    let workloads: readonly Workload[];
    let services: readonly Workload[];
    let variables: ReadonlySet<string>;
    let secrets: readonly string[];

    before(async () => {
      manifests = await render(`overlays/${overlay}`);
      workloads = manifests.filter(({ kind }) => ['Deployment', 'Job'].includes(kind)) as Workload[];
      services = workloads.filter(({ kind }) => kind === 'Deployment');
      const page = await readFile(path.join(house, 'docs/configuration.md'), 'utf8');
      variables = new Set(page.match(/(?<=`)[A-Z][A-Z_]+(?=`)/g));
      const [, section = ''] = /^## Secrets in files\n(.*?)^## /ms.exec(page) ?? [];
      secrets = (section.match(/(?<=`)[A-Z_]+(?=`)/g) ?? []).filter((name) => name !== '_FILE');
    });

    const ofKind = (kind: string): Manifest[] => manifests.filter((manifest) => manifest.kind === kind);
    /** Returns the environment of a workload's container, with that of its config map. */
    const environmentOf = ({ spec }: Workload): Readonly<Record<string, string>> => {
      const [{ env = [], envFrom = [] }] = spec.template.spec.containers;
      const shared = envFrom.flatMap(({ configMapRef: { name } }) =>
        manifests
          .filter(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name)
          .flatMap((map) => Object.entries((map as Manifest & { data: Labels }).data)),
      );
      return Object.fromEntries<string>([
        ...shared,
        ...env.map(({ name, value = '' }) => [name, value] as const),
      ]);
    };

    it('has only objects, members and values that the published schemas have', async () => {
      expect(await problemsOf(manifests)).to.deep.equal([]);
    });

    it('confines every pod to the standard “restricted”, without a token, with files that it cannot change', () => {
      expect(workloads.map(({ metadata }) => metadata.name)).to.have.members([
        'api',
        'dashboard',
        'worker',
        'migration',
      ]);
      for (const { metadata, spec } of workloads) {
        const { securityContext, automountServiceAccountToken, containers } = spec.template.spec;
        expect(securityContext, metadata.name).to.deep.include({
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        expect(automountServiceAccountToken, metadata.name).to.equal(false);
        for (const container of containers) {
          expect(container.securityContext, metadata.name).to.deep.equal({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
          expect(container.resources.limits, metadata.name).to.include.keys('memory');
          expect(container.resources.requests, metadata.name).to.include.keys('cpu', 'memory');
        }
      }
      for (const { metadata } of ofKind('Namespace'))
        expect(metadata.labels).to.include({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    });

    it('restarts pods that hang, and sends requests only to those that are ready', () => {
      for (const { metadata, spec } of services) {
        const [{ startupProbe, livenessProbe, readinessProbe }] = spec.template.spec.containers;
        const paths = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet.path);
        expect(paths, metadata.name).to.deep.equal(['/healthz', '/healthz', '/readyz']);
      }
    });

    it('gives pods more time than they take to stop', async () => {
      const definitions = await readSource('shared/service/src/variables.ts');
      const secondsOf = (workload: Workload, name: string): number => {
        const [, standard = ''] =
          new RegExp(`${name}: Type\\..*?default: ([\\d_]+)`, 's').exec(definitions) ?? [];
        return Number(environmentOf(workload)[name] ?? standard.replace('_', '')) / 1_000;
      };
      for (const workload of services) {
        const { name } = workload.metadata;
        const limits =
          name === 'worker' ? ['WORKER_STOP_TIMEOUT_MS'] : ['HTTP_DRAIN_MS', 'HTTP_STOP_TIMEOUT_MS'];
        const seconds = limits.reduce((sum, limit) => sum + secondsOf(workload, limit), releaseSeconds);
        expect(workload.spec.template.spec.terminationGracePeriodSeconds, name).to.be.above(seconds);
      }
    });

    it('sets only variables that exist, and secrets only as files that are mounted', () => {
      for (const workload of workloads) {
        const files = workload.spec.template.spec.volumes.flatMap(({ secret }) => secret?.items ?? []);
        const mounted = files.map((file) => secretDirectory + file.path);
        const used = Object.entries(environmentOf(workload)).filter(([name]) => name.endsWith('_FILE'));
        const { name } = workload.metadata;
        const plain = Object.keys(environmentOf(workload)).filter((variable) => !variable.endsWith('_FILE'));
        expect(
          plain.filter((variable) => !variables.has(variable) || secrets.includes(variable)),
          name,
        ).to.deep.equal([]);
        expect(
          used.filter(([variable]) => !secrets.includes(variable.replace(/_FILE$/, ''))),
          name,
        ).to.deep.equal([]);
        expect(
          used.map(([, file]) => file),
          name,
        ).to.have.members(mounted);
      }
    });

    it('has a disruption budget for each deployment, and selectors that match pods', () => {
      const names = services.map(({ metadata }) => metadata.name);
      expect(ofKind('PodDisruptionBudget').map(({ metadata }) => metadata.name)).to.have.members(names);
      const labels = services.map(({ spec }) => spec.template.metadata.labels);
      const selected = [
        ...ofKind('PodDisruptionBudget').map(
          ({ spec }) => (spec as { selector: { matchLabels: Labels } }).selector.matchLabels,
        ),
        ...ofKind('Service').map(({ spec }) => (spec as { selector: Labels }).selector),
      ];
      for (const selector of selected)
        expect(
          labels.some((pod) => Object.entries(selector).every(([name, value]) => pod[name] === value)),
        ).to.equal(true);
    });

    it('denies every pod what no policy allows', () => {
      const first = ofKind('NetworkPolicy').find(({ metadata }) => metadata.name === 'longshore');
      expect(first?.spec).to.deep.include({
        podSelector: { matchLabels: { 'app.kubernetes.io/part-of': 'longshore' } },
        policyTypes: ['Ingress', 'Egress'],
      });
      expect(first?.spec).not.to.have.property('ingress');
      for (const { metadata, spec } of workloads)
        expect(spec.template.metadata.labels, metadata.name).to.include({
          'app.kubernetes.io/part-of': 'longshore',
        });
    });

    it('leaves the number of pods to the autoscaler where there is one', () => {
      const scalers = [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')];
      const scaled = scalers.map(
        ({ spec }) => (spec as { scaleTargetRef: { name: string } }).scaleTargetRef.name,
      );
      expect(scaled).to.include('api');
      for (const { metadata, spec } of services)
        expect(spec.replicas === undefined, metadata.name).to.equal(scaled.includes(metadata.name));
    });
  });
}

describe('docs/kubernetes.md', () => {
  let page: string;
  let manifests: readonly Manifest[];
  before(async () => {
    page = await readFile(path.join(house, 'docs/kubernetes.md'), 'utf8');
    manifests = await render('overlays/production');
  });

  it('creates a secret with the members that the pods need', () => {
    const workloads = manifests.filter(({ kind }) => ['Deployment', 'Job'].includes(kind)) as Workload[];
    const items = workloads.flatMap(({ spec }) =>
      spec.template.spec.volumes.flatMap(({ secret }) => secret?.items ?? []),
    );
    const created = [...page.matchAll(/--from-file=([\w-]+)/g)].map(([, name]) => name);
    expect(created).to.have.members([...new Set(items.map((item) => item.path))]);
  });

  it('names objects and directories that exist', async () => {
    const named = [...page.matchAll(/\b(deployment\/|delete job )(\w+)/g)].map(([, , name]) => name);
    expect(manifests.map(({ metadata }) => metadata.name)).to.include.members(named);
    const [, directory = ''] = /--kustomize (\S+)/.exec(page) ?? [];
    expect(await readdir(path.join(house, directory))).to.include('kustomization.yaml');
  });
});

describe('The check of objects for Kubernetes', () => {
  it('finds a misspelt member and a value of the wrong type', async () => {
    const text = JSON.stringify(await render('base'));
    const misspelt = JSON.parse(text.replace('"readinessProbe"', '"readinesProbe"')) as Manifest[];
    expect(String(await problemsOf(misspelt))).to.contain('readinesProbe');
    const mistyped = JSON.parse(text.replace('"maxReplicas":10', '"maxReplicas":"ten"')) as Manifest[];
    expect(String(await problemsOf(mistyped))).to.contain('maxReplicas must be integer');
  });
});
