import { readFile } from 'node:fs/promises';
import { apiVariables } from '@longshore/api';
import { dashboardServiceVariables } from '@longshore/dashboard';
import { secretsOf } from '@longshore/service';
import { workerVariables } from '@longshore/worker';
import { expect } from 'chai';

const schemas = [apiVariables, workerVariables, dashboardServiceVariables];
const definitions = schemas.flatMap(({ properties }) => Object.entries(properties));

/** Their defaults depend on the machine. */
const computed = new Set(['WORKER_THREADS']);

describe('docs/configuration.md', () => {
  let page: string;
  /** The default of each variable that has a row of its own, as the page has it. */
  const defaults = new Map<string, string>();
  const documented: string[] = [];

  before(async () => {
    page = await readFile(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
    for (const [, first = '', second = ''] of page.matchAll(/^\| (.*?) +\| (.*?) +\|/gm)) {
      const names = [...first.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name = '']) => name);
      documented.push(...names);
      if (names.length === 1) defaults.set(names[0] ?? '', second);
    }
  });

  it('lists the variables that exist, and no others', () => {
    const existing = new Set(definitions.map(([name]) => name));
    expect([...new Set(documented)]).to.have.members([...existing]);
  });

  it('lists each variable once', () => {
    expect(documented.filter((name, index) => documented.indexOf(name) < index)).to.deep.equal([]);
  });

  it('has the defaults of the definitions', () => {
    const wrong = definitions.flatMap(([name, definition]) => {
      const shown = defaults.get(name);
      const { default: value } = definition as { readonly default?: string | number | boolean };
      if (shown === undefined || value === undefined || value === '' || computed.has(name)) return [];
      return shown.replaceAll(/[`\\]|(?<=\d) (?=\d)/g, '').includes(String(value))
        ? []
        : [`${name}: ${String(value)}`];
    });
    expect(wrong).to.deep.equal([]);
  });

  it('lists the variables that can be in files', () => {
    const [, section = ''] = /^## Secrets in files\n(.*?)^## /ms.exec(page) ?? [];
    const listed = [...section.matchAll(/`([A-Z_]+)`/g)]
      .map(([, name]) => name)
      .filter((name) => name !== '_FILE');
    expect(listed).to.have.members([...new Set(schemas.flatMap(secretsOf))]);
  });
});
