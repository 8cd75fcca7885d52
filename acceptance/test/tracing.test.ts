import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { house } from './house/house.js';
import { enqueue, getJob } from './system/jobs.js';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './system/otlp-receiver.js';
import { useSystem } from './system/system.js';

const source = `
import { defineJob, handleJob } from '@longshore/jobs';

const bill = handleJob(defineJob({ name: 'bill' }), async ({ step, transaction }) => {
  await step('count', () => 3);
  return transaction(async () => 'billed');
});
const burn = handleJob(defineJob({ name: 'burn', maxAttempts: 1 }), () => {
  throw new RangeError('too hot');
});

export const application = { name: 'traced', createHandlers: () => [bill, burn] };
`;

describe('Spans that the services send over OTLP', () => {
  const system = useSystem();
  let directory: string;
  let receiver: OtlpReceiver;

  before(async () => {
    const data = path.join(house, '.data');
    await mkdir(data, { recursive: true });
    directory = await mkdtemp(path.join(data, 'traced-'));
    const application = path.join(directory, 'application.mjs');
    await writeFile(application, source);
    receiver = await startOtlpReceiver();
    const env = { LONGSHORE_APP: application, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
    const api = await system().start('api', env);
    const worker = await system().start('worker', env);
    for (const [name, state] of [
      ['bill', 'done'],
      ['burn', 'failed'],
    ] as const) {
      const job = await enqueue(api.url, name);
      await eventually(
        () => getJob(job),
        (seen) => seen.state === state,
      );
    }
    // Both send their last spans when they stop.
    expect([await worker.end('SIGTERM'), await api.end('SIGTERM')]).to.deep.equal(['exit 0', 'exit 0']);
  });
  after(async () => {
    await receiver.close();
    await rm(directory, { recursive: true, force: true });
  });

  const spanOf = (name: string, job: string): ReceivedSpan => {
    const span = receiver.spans.find(
      (each) => each.name === name && each.attributes['longshore.job.name'] === job,
    );
    if (span === undefined) throw new Error(`No span "${name}": ${JSON.stringify(receiver.spans)}`);
    return span;
  };
  const below = (parent: ReceivedSpan): string[] =>
    receiver.spans.filter(({ parentId }) => parentId === parent.spanId).map(({ name }) => name);

  it('go from the request to the enqueue', () => {
    const sent = spanOf('send default', 'bill');
    const request = receiver.spans.find(({ spanId }) => spanId === sent.parentId);
    expect(request).to.deep.include({
      service: 'longshore-api',
      name: 'POST /api/v1/jobs',
      kind: 2,
      parentId: '',
    });
    expect(request?.attributes).to.include({
      'http.request.method': 'POST',
      'http.route': '/api/v1/jobs',
      'http.response.status_code': 201,
    });
    expect([sent.kind, sent.traceId]).to.deep.equal([4, request?.traceId]);
  });

  it('go from the enqueue to the attempt in another process, by a link', () => {
    const sent = spanOf('send default', 'bill');
    const processed = spanOf('process default', 'bill');
    expect(processed).to.deep.include({
      service: 'longshore-worker',
      kind: 5,
      parentId: '',
      links: [sent.spanId],
      status: 0,
    });
    expect(processed.attributes['messaging.message.id']).to.equal(sent.attributes['messaging.message.id']);
  });

  it('show the steps and the transaction of an attempt', () => {
    expect(below(spanOf('process default', 'bill'))).to.deep.equal(['step count', 'transaction']);
  });

  it('say that an attempt has failed', () => {
    const { status, attributes } = spanOf('process default', 'burn');
    expect([status, attributes['error.type']]).to.deep.equal([2, 'RangeError']);
  });

  it('leave out probes', () => {
    expect(receiver.spans.filter(({ name }) => name.includes('readyz'))).to.deep.equal([]);
  });
});

describe('A service without OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  it('does not load the SDK of OpenTelemetry', async () => {
    const script = `
      import { createRequire } from 'node:module';
      await import('./services/api/dist/index.js');
      await import('./services/worker/dist/worker-service.js');
      const loaded = Object.keys(createRequire(import.meta.url).cache);
      console.log(JSON.stringify(loaded.filter((file) => file.includes('@opentelemetry'))));
    `;
    const args = ['--input-type=module', '--eval', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: house, env: {} });
    const loaded = JSON.parse(stdout) as string[];
    expect(loaded).not.to.be.empty; // the API alone, which the metrics use
    expect(loaded.filter((file) => !file.includes('/@opentelemetry/api/'))).to.deep.equal([]);
  });
});
