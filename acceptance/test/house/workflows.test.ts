import { expect } from 'chai';
import { parse } from 'yaml';
import { readSource, sourceFiles } from './house.js';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const workflowsIn = async (): Promise<(readonly [file: string, workflow: Workflow])[]> => {
  const files = (await sourceFiles()).filter((file) => /[._]github\/workflows\/.*\.ya?ml$/.test(file));
  return Promise.all(files.map(async (file) => [file, parse(await readSource(file)) as Workflow] as const));
};

/** Whether a job could publish: it has secrets, an identity or the right to write. */
const hasRights = (job: Job): boolean =>
  job.environment !== undefined ||
  Object.values(job.permissions ?? {}).includes('write') ||
  JSON.stringify(job).includes('secrets.');

describe('A workflow', () => {
  it('uses actions by the hash of a commit', async () => {
    const workflows = await workflowsIn();
    expect(workflows).to.have.length.above(1);
    for (const [file, { jobs }] of workflows)
      for (const { uses } of Object.values(jobs).flatMap(({ steps }) => steps))
        if (uses !== undefined) expect(uses, file).to.match(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
  });

  it('runs code of the repository and of its dependencies without the right to publish', async () => {
    for (const [file, { permissions, jobs }] of await workflowsIn()) {
      expect(Object.values(permissions ?? { all: 'write' }), file).to.not.include('write');
      for (const [name, job] of Object.entries(jobs)) {
        if (!hasRights(job)) continue;
        const text = job.steps.map(({ uses = '', run = '' }) => `${uses}\n${run}`).join('\n');
        expect(text, `${file}: ${name}`).to.not.match(
          /actions\/checkout|build-push|\b(node|npx|make|tsx|docker build)\b(?!@)|npm (ci|install|run|test|exec|rebuild)/,
        );
        for (const [publishing] of text.matchAll(/npm publish.*/g))
          expect(publishing, `${file}: ${name}`).to.contain('--ignore-scripts');
      }
    }
  });

  it('keeps no credentials in a checkout, where what is installed could read them', async () => {
    for (const [file, { jobs }] of await workflowsIn())
      for (const step of Object.values(jobs).flatMap(({ steps }) => steps))
        if (step.uses?.startsWith('actions/checkout@') === true)
          expect(step.with, file).to.have.property('persist-credentials', false);
  });

  it('publishes in jobs of its own', async () => {
    const { jobs } = parse(await readSource('.github/workflows/release.yml')) as Workflow;
    const able = Object.entries(jobs).filter(([, job]) => hasRights(job));
    expect(able.map(([name]) => name)).to.deep.equal(['publish', 'push']);
  });
});
