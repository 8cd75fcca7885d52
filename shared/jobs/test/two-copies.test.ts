import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';
import * as jobs from '../src/index.js';
import { failure } from '../src/server/outcome.js';
import * as storage from '../src/storage.js';

type Exports = Readonly<Record<string, unknown>>;
type ErrorClass = new (...args: unknown[]) => Error;

const here = fileURLToPath(new URL('../', import.meta.url));

function errorsOf(exports: Exports): (readonly [string, ErrorClass])[] {
  return Object.entries(exports).filter(
    (entry): entry is [string, ErrorClass] =>
      typeof entry[1] === 'function' && entry[1].prototype instanceof Error,
  );
}

const claimed: storage.ClaimedJob = {
  claim: { jobId: 'job', queue: 'default', serverId: 'server', attempt: 1 },
  name: 'work',
  priority: 0,
  args: {},
  maxAttempts: 10,
  createdAt: new Date(),
  dueAt: new Date(),
  readyAt: new Date(),
  meta: null,
};

describe('two copies of @longshore/jobs in one process', () => {
  let copy: string;
  let otherJobs: Exports;
  let otherStorage: Exports;

  before(async () => {
    const data = path.join(here, '../../.data');
    await mkdir(data, { recursive: true });
    copy = await mkdtemp(path.join(data, 'copy-of-jobs-'));
    await cp(path.join(here, 'dist'), copy, { recursive: true });
    const load = async (file: string) => (await import(pathToFileURL(path.join(copy, file)).href)) as Exports;
    otherJobs = await load('index.js');
    otherStorage = await load('storage.js');
  });
  after(() => rm(copy, { recursive: true, force: true }));

  it('recognise each other’s errors, including subclasses', () => {
    const pairs = [
      ...errorsOf(jobs).map(([name, type]) => [type, otherJobs[name] as ErrorClass] as const),
      ...errorsOf(storage).map(([name, type]) => [type, otherStorage[name] as ErrorClass] as const),
    ];
    expect(pairs).to.have.length.of.at.least(16);
    for (const [type, other] of pairs) {
      expect(type).not.to.equal(other);
      expect(Object.create(other.prototype as object), type.name).to.be.instanceOf(type);
      expect(new Error('unrelated'), type.name).not.to.be.instanceOf(type);
    }
    const timeout = new (otherJobs['ReadTimeoutError'] as ErrorClass)('late');
    expect(timeout).to.be.instanceOf(jobs.StorageUnavailableError);
    expect(timeout).not.to.be.instanceOf(jobs.JobTimeoutError);
  });

  it('distinguish an application’s own subclass from its parent', () => {
    class Closed extends jobs.CancelJob {}
    expect(new Closed()).to.be.instanceOf(Closed).and.instanceOf(jobs.CancelJob);
    expect(new jobs.CancelJob()).not.to.be.instanceOf(Closed);
  });

  it('cancel a job whose handler throws the other copy’s CancelJob', () => {
    const thrown = new (otherJobs['CancelJob'] as ErrorClass)('no such customer');
    const outcome = failure(claimed, thrown, undefined, { cancelled: false, timeout: null });
    expect(outcome.kind).to.equal('cancelled');
  });
});
