import { eventually, patientServer } from '@longshore/test-support';
import { expect } from 'chai';
import Type from 'typebox';
import {
  defineJob,
  handleJob,
  type Job,
  JobClient,
  JobServer,
  type JobServerOptions,
  type JobState,
  MemoryStorage,
  silentLogger,
  StorageUnavailableError,
} from '../src/index.js';
import { HopelessError } from './thread-handler.js';

const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;

const threaded = defineJob({
  name: 'threaded',
  args: Type.Object({ what: Type.String() }),
  retryDelay: [yearMs],
  giveUpOn: [HopelessError],
});
const quick = defineJob({ name: 'quick' });

const handlers = [
  handleJob(threaded, { module: new URL('./thread-handler.mjs', import.meta.url), thread: true }),
  handleJob(quick, () => 'quick'),
];

describe('A handler in a thread', () => {
  let storage: MemoryStorage;
  let client: JobClient;
  let server: JobServer;

  async function start(options: Partial<JobServerOptions> = {}): Promise<void> {
    server = new JobServer({
      storage,
      handlers,
      logger: silentLogger,
      threads: 1,
      ...patientServer,
      stopTimeoutMs: 50,
      timeoutGraceMs: hourMs,
      ...options,
    });
    await server.start();
  }

  beforeEach(() => {
    storage = new MemoryStorage();
    client = new JobClient(storage);
  });

  afterEach(async () => {
    await server.stop();
    await storage.close();
  });

  async function untilIn(id: string, ...states: JobState[]): Promise<Job> {
    const found = await eventually(
      () => storage.jobs.find(id),
      (job) => job !== null && states.includes(job.state),
    );
    return found ?? expect.fail('The job is gone');
  }

  const enqueue = async (what: string, timeoutMs?: number): Promise<string> =>
    (await client.enqueue(threaded, { what }, timeoutMs === undefined ? {} : { timeoutMs })).id;

  const runOne = async (what: string, ...states: JobState[]): Promise<Job> =>
    untilIn(await enqueue(what), 'done', ...states);

  async function saidSomething(id: string): Promise<void> {
    await eventually(
      () => storage.reports.countLogs(id),
      (lines) => lines > 0,
    );
  }

  /**
   * Runs a job that times out, and returns it. The timeout may pass before the thread has started the handler; then
   * tries again with a longer one.
   */
  async function runIntoTimeout(what: string): Promise<Job> {
    for (let timeoutMs = 500; ; timeoutMs *= 2) {
      const job = await untilIn(await enqueue(what, timeoutMs), 'scheduled');
      if ((await storage.reports.countLogs(job.id)) > 0) return job;
    }
  }

  it('runs off the main thread with arguments and job, and returns its result', async () => {
    await start();
    const job = await runOne('tell');
    expect(job.result).to.deep.equal({
      isMainThread: false,
      attempt: 1,
      createdAt: job.createdAt.toISOString(),
    });
  });

  it('reads its parents, its batch and the results in it', async () => {
    await start();
    const { callback } = await client.enqueueBatch({
      name: 'album',
      jobs: [{ definition: quick }, { definition: quick }],
      callback: { definition: threaded, args: { what: 'reads' } },
    });
    const { result } = await untilIn(callback?.id ?? '', 'done', 'scheduled');
    const results = ['quick', 'quick'];
    expect(result).to.deep.equal({ parent: 'batch', name: 'album', results, errors: [] });
  });

  it('fails with the error of the storage if a read fails', async () => {
    storage.batches.findMany = () => Promise.reject(new StorageUnavailableError('No storage'));
    await start();
    const { callback } = await client.enqueueBatch({
      jobs: [],
      callback: { definition: threaded, args: { what: 'reads' } },
    });
    const { error } = await untilIn(callback?.id ?? '', 'scheduled');
    expect(error).to.include({ name: 'StorageUnavailableError', message: 'No storage' });
  });

  it('leaves the main thread free for other jobs while it computes', async () => {
    await start({ timeoutGraceMs: 0 });
    const done: string[] = [];
    server.on('done', ({ job }) => done.push(job.name));
    const id = await enqueue('compute');
    await saidSomething(id);
    const quickJobs = await client.enqueueMany(
      Array.from({ length: 100 }, () => ({ definition: quick, args: {} })),
    );
    await Promise.all(quickJobs.map((job) => untilIn(job.id, 'done')));
    expect((await storage.jobs.find(id))?.state).to.equal('processing');
    expect(done).to.have.length(100);
    await storage.control.cancel(id);
    await untilIn(id, 'cancelled');
  });

  it('has its progress and log stored by the time it is done', async () => {
    await start();
    const job = await runOne('count');
    expect(job.progress).to.deep.equal({ percent: 100, message: null });
    const [line] = await storage.reports.listLogs(job.id);
    expect(line).to.include({ level: 'info', message: 'counted' });
    expect(line?.fields?.['err']).to.include({ name: 'RangeError', message: 'none left' });
  });

  it('keeps only the maximum number of log lines', async () => {
    await start({ maxLogLines: 10 });
    const { id } = await runOne('flood');
    const lines = await storage.reports.listLogs(id);
    expect(lines).to.have.length(11);
    expect(lines[10]?.message).to.contain('maxLogLines');
  });

  it('fails with its error, including the thread’s stack and the cause', async () => {
    await start();
    const { error } = await runOne('fail', 'scheduled');
    expect(error).to.include({ name: 'RangeError', message: 'no' });
    expect(error?.stack).to.match(/thread-handler[^]*Caused by: [^]*the root of it/);
  });

  it('is not retried after an error in giveUpOn, although threads do not share classes', async () => {
    await start();
    expect((await runOne('hopeless', 'failed', 'scheduled')).state).to.equal('failed');
  });

  it('snoozes', async () => {
    await start();
    const { id, result } = await runOne('snooze');
    expect(result).to.equal(1);
    const reasons = (await storage.reports.listTransitions(id)).map(({ reason }) => reason);
    expect(reasons).to.include('snoozed');
  });

  it('cancels its job', async () => {
    await start();
    expect((await runOne('cancel', 'cancelled')).error?.message).to.equal('moot');
  });

  it('fails with the part of its result that cannot be stored', async () => {
    await start();
    expect((await runOne('date', 'scheduled')).error?.message).to.contain('result.when is a Date');
  });

  it('cannot use a transaction, and says why', async () => {
    await start();
    expect((await runOne('transaction', 'scheduled')).error?.message).to.contain('connection');
  });

  for (const method of ['enqueue', 'enqueueMany', 'enqueueBatch'])
    it(`cannot use ${method}, and says what to do instead`, async () => {
      await start();
      expect((await runOne(method, 'scheduled')).error?.message).to.contain('return the jobs to enqueue');
    });

  it('may end its thread without harming the server', async () => {
    await start();
    expect((await runOne('exit', 'scheduled')).state).to.equal('scheduled');
    expect((await runOne('tell')).state).to.equal('done');
  });

  it('has its signal aborted when its job is cancelled', async () => {
    await start();
    const id = await enqueue('wait');
    await saidSomething(id);
    await storage.control.cancel(id);
    expect((await untilIn(id, 'cancelled')).error).not.to.equal(null);
  });

  it('sees the timeout in its signal while it computes', async () => {
    await start();
    const { error } = await runIntoTimeout('compute');
    expect(error?.name).to.equal('JobTimeoutError');
    expect(error?.stack).not.to.contain('Caused by');
  });

  it('is terminated with its thread if it ignores timeout and grace period', async () => {
    await start({ timeoutGraceMs: 50 });
    const { error } = await runIntoTimeout('burn');
    expect(error?.name).to.equal('JobTimeoutError');
    expect((await runOne('tell')).state).to.equal('done');
  });

  it('is terminated with its thread if it ignores a cancellation', async () => {
    await start({ timeoutGraceMs: 50 });
    const id = await enqueue('burn');
    await saidSomething(id);
    await storage.control.cancel(id);
    expect((await untilIn(id, 'cancelled')).error?.name).to.equal('JobCancelledError');
  });

  it('never starts if its job is cancelled while it waits for a thread', async () => {
    await start();
    const first = await enqueue('compute');
    await saidSomething(first);
    const second = await enqueue('compute');
    await untilIn(second, 'processing');
    await storage.control.cancel(second);
    await untilIn(second, 'cancelled');
    expect(await storage.reports.countLogs(second)).to.equal(0);
    await storage.control.cancel(first);
    await untilIn(first, 'cancelled');
  });

  it('gets its turn when the thread before it is terminated', async () => {
    await start({ timeoutGraceMs: 50 });
    const first = await enqueue('burn');
    await saidSomething(first);
    const second = await enqueue('tell');
    await untilIn(second, 'processing');
    await storage.control.cancel(first);
    expect((await untilIn(second, 'done')).attempt).to.equal(1);
  });

  it('may leave work behind that throws, which is logged and does not harm the server', async () => {
    const logged: string[] = [];
    const note = (_fields: object, message: string): number => logged.push(message);
    await start({ logger: { debug: note, info: note, warn: note, error: note } });
    await runOne('leave');
    const channel = new BroadcastChannel('left behind');
    channel.postMessage('throw');
    channel.close();
    await eventually(() => logged.some((message) => message.includes('left running')));
    expect((await runOne('tell')).state).to.equal('done');
  });

  it('does not keep a server from stopping after the time limit, although it never ends', async () => {
    await start({ stopTimeoutMs: 50 });
    const id = await enqueue('burn');
    await saidSomething(id);
    await server.stop();
    expect(await storage.jobs.find(id)).to.include({ state: 'enqueued', attempt: 0 });
  });

  it('requires a URL', () => {
    expect(() => handleJob(quick, { module: './quick.js' as unknown as URL, thread: true })).to.throw(
      TypeError,
      'import.meta.url',
    );
    server = new JobServer({ storage, handlers });
  });
});
