import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { house } from '../house/house.js';

const run = promisify(execFile);

/** An object of Kubernetes, as far as the tests look at all kinds alike. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: unknown;
}

/** Returns the objects of a directory below `ops/kubernetes`, as `kubectl kustomize` renders them. Needs no cluster. */
export async function render(directory: string): Promise<Manifest[]> {
  const { stdout } = await run('kubectl', ['kustomize', path.join(house, 'ops/kubernetes', directory)]);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

/** The packages with the published schemas of each API group. Groups of Kubernetes itself have no dot, or end with k8s.io. */
const packages: Readonly<Record<string, string>> = {
  'keda.sh': '@kubernetes-models/keda/',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/',
};

function moduleOf({ apiVersion, kind }: Manifest): string {
  const [group = ''] = apiVersion.split('/');
  return `${packages[group] ?? 'kubernetes-models/'}${apiVersion}/${kind}`;
}

/**
 * Returns what is wrong with objects according to the published schemas: values that these do not allow, and members that
 * they do not have. The schemas themselves allow any further members, but the types that are generated from them do not.
 */
export async function problemsOf(manifests: readonly Manifest[]): Promise<string[]> {
  const values = await Promise.all(manifests.map((manifest) => invalidValues(manifest)));
  return [...values.flat(), ...(await unknownMembers(manifests))];
}

interface Model {
  validate(): void;
}

async function invalidValues(manifest: Manifest): Promise<string[]> {
  const named = (await import(moduleOf(manifest))) as Readonly<Record<string, new (data: Manifest) => Model>>;
  const Kind = named[manifest.kind];
  if (Kind === undefined) return [`There is no ${manifest.apiVersion} ${manifest.kind}`];
  try {
    new Kind(manifest).validate();
    return [];
  } catch (error) {
    return [`${manifest.kind} ${manifest.metadata.name}: ${(error as Error).message}`];
  }
}

/** Has the compiler compare the objects, as literals, with the types of their kinds. */
async function unknownMembers(manifests: readonly Manifest[]): Promise<string[]> {
  const directory = await mkdtemp(path.join(house, 'acceptance/.manifests-'));
  const program = manifests.map(
    (manifest, index) =>
      `import type { I${manifest.kind} as Kind${index} } from '${moduleOf(manifest)}';\n` +
      `export const object${index}: Kind${index} = ${JSON.stringify(manifest)};\n`,
  );
  try {
    await writeFile(path.join(directory, 'manifests.ts'), program.join(''));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--types', ''];
    const modules = ['--module', 'nodenext', '--target', 'es2023'];
    const compiler = path.join(house, 'node_modules/.bin/tsc');
    await run(compiler, [...options, ...modules, path.join(directory, 'manifests.ts')]);
    return [];
  } catch (error) {
    return String((error as { stdout?: string }).stdout ?? error)
      .trim()
      .split('\n');
  } finally {
    await rm(directory, { recursive: true });
  }
}
