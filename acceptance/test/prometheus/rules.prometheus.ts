import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { house } from '../house/house.js';
import { promtool, rulesDirectory } from './prometheus.js';

const read = (file: string): Promise<string> => readFile(path.join(rulesDirectory, file), 'utf8');
const found = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name).toSorted();

describe('The rules for Prometheus', () => {
  it('are valid', async () => {
    await promtool(['check', 'rules', 'rules.yml', 'alerts.yml']);
  });

  it('pass their tests', async () => {
    await promtool(['test', 'rules', 'alerts.test.yml']);
  });

  it('are loaded by a valid configuration', async () => {
    await promtool(['check', 'config', 'prometheus.yml']);
  });
});

describe('An alert', () => {
  let names: readonly string[];
  before(async () => {
    names = found(await read('alerts.yml'), /^ +- alert: (\w+)$/gm);
    expect(names).to.have.length.of.at.least(10);
  });

  it('has a test in which it fires, and one in which it does not', async () => {
    const tests = await read('alerts.test.yml');
    expect(found(tests, /^ +- name: (\w+) fires$/gm)).to.deep.equal(names);
    expect(found(tests, /^ +- name: (\w+) does not fire$/gm)).to.deep.equal(names);
  });

  it('has a section in docs/alerts.md with its symptom, what to check, and the cure, to which it links', async () => {
    const page = await readFile(path.join(house, 'docs/alerts.md'), 'utf8');
    const [, ...sections] = page.split(/^## /m);
    expect(sections.map((section) => /^\w+/.exec(section)?.[0] ?? '').toSorted()).to.deep.equal(names);
    for (const section of sections)
      expect(found(section, /^\*\*(\w+)\.\*\* \S/gm), section).to.deep.equal(['Check', 'Cure', 'Symptom']);
    const links = found(await read('alerts.yml'), /^ +runbook_url: \S+\/docs\/alerts\.md#(\w+)$/gm);
    expect(links).to.deep.equal(names.map((name) => name.toLowerCase()).toSorted());
  });
});
