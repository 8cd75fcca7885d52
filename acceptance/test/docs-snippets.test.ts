import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { runsByItself, type Snippet, snippets } from './docs/snippet.js';
import { house } from './house/house.js';

/** Maps a walkthrough page to the test that writes and runs the page's files. */
const walks: Readonly<Record<string, string>> = {
  'docs/own-application.md': 'acceptance/test/own-application.test.ts',
  'docs/quick-start.md': 'acceptance/test/packages/created-application.ts',
};

/** Maps a page and a language to the test that runs or checks the page's blocks in that language. */
const elsewhere: Readonly<Record<string, string>> = {
  'README.md sh': 'acceptance/test/packages/created-application.ts',
  'README.md console': 'acceptance/test/make-dev.test.ts',
  'docs/access.md text': 'shared/resources/test/rate-limit.test.ts',
  'docs/access.md console': 'acceptance/test/credentials.test.ts',
  'docs/access.md sh': 'acceptance/test/credentials.test.ts',
  'docs/dashboard.md console': 'acceptance/test/credentials.test.ts',
  'docs/dashboard.md json': 'shared/jobs-dashboard/test/alerts.test.ts',
  'docs/deploying.md nginx': 'acceptance/test/gateway/restarts.gateway.ts',
  'docs/deploying.md sh': 'acceptance/test/rotated-password.test.ts',
  'docs/deploying.md sql': 'acceptance/test/rotated-password.test.ts',
  'docs/errors.md json': 'acceptance/test/make-dev.test.ts',
  'docs/http-api.md json': 'acceptance/test/http-api-docs.test.ts',
  'docs/http-api.md sh': 'acceptance/test/http-api-docs.test.ts',
  'docs/http-events.md sh': 'acceptance/test/http-events-docs.test.ts',
  'docs/jobs/drivers.md js': 'acceptance/test/packages/prisma.ts',
  'docs/kubernetes.md sh': 'acceptance/test/kubernetes/overlays.kubernetes.ts',
  'docs/operations.md sql': 'acceptance/test/database-role.test.ts',
  'docs/operations.md nginx': 'acceptance/test/gateway/public-paths.gateway.ts',
  'docs/own-application.md sh': 'acceptance/test/own-application.test.ts',
  'docs/own-application.md dockerfile': 'acceptance/test/containers/applications.containers.ts',
  'docs/own-application.md http': 'acceptance/test/own-application.test.ts',
  'docs/own-application.md sql': 'acceptance/test/own-application.test.ts',
  'docs/sizing.md sql': 'acceptance/test/prometheus/queries.prometheus.ts',
  'docs/quick-start.md sh': 'acceptance/test/packages/created-application.ts',
  'docs/quick-start.md js': 'acceptance/test/packages/created-application.ts',
  'shared/create-longshore/template/README.md sh': 'acceptance/test/packages/created-application.ts',
};

/** Matches the READMEs of packages. The tests in `acceptance/test/packages` run the programs and commands in them. */
const packageReadme = /^(?:services|shared)\/[\w-]+\/README\.md$/;

/**
 * Languages of other platforms. Their code is shown only for comparison and is not run. `typescript`, spelled out, is that of
 * platforms that need a server or packages that are not installed here.
 */
const foreign = new Set(['csharp', 'elixir', 'typescript']);

function isRun(snippet: Snippet): boolean {
  const { page, language, file, output } = snippet;
  if (runsByItself(snippet) || foreign.has(language)) return true;
  if (file !== undefined && page in walks) return true;
  if (packageReadme.test(page) && (language === 'sh' || (language === 'js' && output !== undefined)))
    return true;
  return `${page} ${language}` in elsewhere || isOfNames(snippet);
}

/**
 * Whether a snippet contains only `make` commands, or only assignments to the services' environment variables. Tests
 * below check that these targets and variables exist.
 */
function isOfNames(snippet: Snippet): boolean {
  const calls = snippet.text.trim().split('\n');
  return (
    snippet.language === 'sh' && (calls.every((line) => line.startsWith('make ')) || namesVariables(snippet))
  );
}

function namesVariables({ language, text }: Snippet): boolean {
  return (
    language === 'sh' &&
    text
      .trim()
      .split('\n')
      .every((line) => /^[A-Z]+_[A-Z_]+=\S+$/.test(line))
  );
}

describe('a snippet of the documentation', () => {
  let all: readonly Snippet[];
  before(async () => void (all = await snippets()));

  it('is run by a test', () => {
    const missing = all.filter((snippet) => !isRun(snippet));
    expect(missing.map(({ page, line, language }) => `${page}:${line} ${language}`)).to.deep.equal([]);
  });

  it('names a test that exists', async () => {
    for (const test of [...Object.values(walks), ...Object.values(elsewhere)])
      await access(path.join(house, test));
  });

  it('calls only targets that the Makefile has', async () => {
    const makefile = await readFile(path.join(house, 'Makefile'), 'utf8');
    const targets = new Set([...makefile.matchAll(/^([a-z-]+):.*##/gm)].map(([, name]) => name));
    const calls = all.flatMap(({ page, text }) =>
      [...text.matchAll(/\bmake ([a-z-]+)/g)].map(([, target]) => ({ page, target })),
    );
    expect(calls).to.have.length.of.at.least(10);
    expect(calls.filter(({ target }) => !targets.has(target))).to.deep.equal([]);
  });

  it('sets only variables that exist', async () => {
    const page = await readFile(path.join(house, 'docs/configuration.md'), 'utf8');
    const variables = all.filter(namesVariables).flatMap(({ text }) => text.match(/^[A-Z_]+(?==)/gm) ?? []);
    expect(variables).to.have.length.of.at.least(3);
    expect(variables.filter((name) => !page.includes(`\`${name}\``))).to.deep.equal([]);
  });
});
