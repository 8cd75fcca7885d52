import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';
import * as own from '../src/index.js';
import { Outcome } from '../src/definition/storage.js';
import { tableOf } from '../src/table/table-storage.js';

const here = fileURLToPath(new URL('../', import.meta.url));

describe('two copies of @longshore/resources in one process', () => {
  let copy: string;
  let other: typeof own;

  before(async () => {
    const data = path.join(here, '../../.data');
    await mkdir(data, { recursive: true });
    copy = await mkdtemp(path.join(data, 'copy-of-resources-'));
    await cp(path.join(here, 'dist'), path.join(copy, 'dist'), { recursive: true });
    other = (await import(pathToFileURL(path.join(copy, 'dist/index.js')).href)) as typeof own;
  });
  after(() => rm(copy, { recursive: true, force: true }));

  it('recognise each other’s errors, results and tables', () => {
    expect(other.ApiError).not.to.equal(own.ApiError);
    expect(other.apiError(42202, 'no')).to.be.instanceOf(own.ApiError);
    expect(new other.DefinitionError('no')).to.be.instanceOf(own.DefinitionError);
    expect(new other.Existing({})).to.be.instanceOf(own.Existing);
    expect(other.withJob({}, 'id')).to.be.instanceOf(Outcome);
    expect(other.withJob({}, undefined)).not.to.be.instanceOf(Outcome);
    const storage = other.tableStorage({ name: 'shop.order' });
    expect(tableOf({ storage } as unknown as own.Resource)).to.deep.equal({ name: 'shop.order' });
  });
});
