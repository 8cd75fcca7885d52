import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { house } from './house.js';

const breaches = [
  'expect(performance.now() - startedAt).to.be.below(1_000);',
  'expect(job.createdAt.getTime()).to.be.closeTo(Date.now(), 5_000);',
  'expect(new Date() > job.createdAt).to.equal(true);',
  'const before = Date.now(); work(); const took = Date.now() - before;',
  'expect(process.cpuUsage().user).to.be.below(1);',
  'await new Promise((resolve) => setTimeout(resolve, 100));',
  "import { setTimeout as sleep } from 'node:timers/promises';",
];

const accepted = [
  'await client.enqueue(mail, {}, { runAt: new Date(Date.now() + 60_000) });',
  'expect(await storage.feed.read({ since: new Date(Date.now() - 1_000) })).to.have.length(1);',
  'expect(job.finishedAt.getTime()).to.be.at.least(job.startedAt.getTime());',
];

describe('The lint rule against clocks in tests', () => {
  let directory: string;
  before(async () => {
    await mkdir(path.join(house, '.data'), { recursive: true });
    directory = await mkdtemp(path.join(house, '.data/clock-rule-'));
    await mkdir(path.join(directory, 'test'));
    const rules = { 'tests/no-clock': 'error' };
    const config = {
      jsPlugins: [path.join(house, 'dev/lint/tests.js')],
      categories: { correctness: 'off' },
      rules,
    };
    await writeFile(path.join(directory, 'config.json'), JSON.stringify(config));
  });
  after(() => rm(directory, { recursive: true }));

  /** Returns how many violations the rule finds in a file with this code. */
  async function violations(code: string): Promise<number> {
    const file = path.join(directory, 'test', 'a.test.ts');
    await writeFile(file, `${code}\nexport {};\n`);
    const oxlint = path.join(house, 'node_modules/.bin/oxlint');
    const args = ['--config', path.join(directory, 'config.json'), '--no-ignore', '--format', 'json', file];
    const stdout = await new Promise<string>((resolve) => {
      execFile(oxlint, args, (_error, output) => resolve(output));
    });
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly { code: string }[] };
    return diagnostics.filter(({ code: rule }) => rule.includes('no-clock')).length;
  }

  for (const code of breaches)
    it(`rejects ${code}`, async () => {
      expect(await violations(code)).to.be.at.least(1);
    });

  for (const code of accepted)
    it(`accepts ${code}`, async () => {
      expect(await violations(code)).to.equal(0);
    });
});
