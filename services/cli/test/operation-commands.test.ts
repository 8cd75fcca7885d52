import type { IncomingMessage } from 'node:http';
import { execFile } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { serve, type TestServer } from '@longshore/test-support';
import { expect } from 'chai';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const [first, missing, last] = [1, 2, 3].map((n) => `01a20472-5ed1-7102-9962-bf1f1a0fa73${n}`);

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

describe('The command line, with an installation that answers', () => {
  let installation: TestServer;
  const requests: string[] = [];

  before(async () => {
    const answer = async (request: IncomingMessage): Promise<readonly [status: number, body: unknown]> => {
      const body = await text(request);
      const { method = '', url = '' } = request;
      requests.push([method, url.replace('/api/v1/', ''), body].filter(Boolean).join(' '));
      if (url.includes(String(missing)))
        return [404, { errors: [{ internalMessage: 'There is no such job' }] }];
      if (method === 'DELETE') return [204, undefined];
      if (method === 'GET') return [200, [{ id: first, name: 'mail', state: 'failed' }]];
      if (body.startsWith('[')) return [201, [{ id: first, name: 'greet', state: 'enqueued' }]];
      return [200, { id: url.split('/').at(-2), name: 'mail', state: 'cancelled' }];
    };
    installation = await serve((request, response) => {
      void answer(request).then(([status, body]) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(body === undefined ? undefined : JSON.stringify(body));
      });
    });
  });
  after(() => installation.close());
  beforeEach(() => requests.splice(0));

  async function run(args: readonly string[], url = installation.url, input = ''): Promise<Ended> {
    const command = [main, ...args];
    const env = { ...process.env, LONGSHORE_URL: url };
    const ended = promisify(execFile)(process.execPath, command, { env });
    ended.child.stdin?.on('error', () => undefined).end(input); // most commands do not read it
    return ended.then(
      ({ stdout, stderr }) => ({ code: 0, out: stdout, errors: stderr }),
      (error: unknown) => {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { code, out: stdout, errors: stderr };
      },
    );
  }

  it('tries each of several jobs, and reports each', async () => {
    const ids = [first, missing, last].map(String);
    const { code, out, errors } = await run(['cancel', ...ids, '--reason', 'wrong address']);
    expect(requests).to.deep.equal(ids.map((id) => `PUT jobs/${id}/cancel {"reason":"wrong address"}`));
    expect(errors.trim()).to.equal(`${missing}: There is no such job`);
    expect(out).to.include(first).and.to.include(last);
    expect(code).to.equal(1);
  });

  for (const [args, request] of [
    [
      ['retry', '--queue', 'mail', '--state', 'failed', '--dependents', '--delay-ms', '500'],
      'PUT jobs/retry?state=failed&queue=mail {"dependents":true,"delayMs":500}',
    ],
    [
      ['reschedule', '--tag', 'night', '--run-at', '2027-01-31T08:00:00Z'],
      'PUT jobs/reschedule?tag=night {"runAt":"2027-01-31T08:00:00Z"}',
    ],
    [
      ['reschedule', String(first), '--run-at', '2027-01-31T08:00:00Z'],
      `PUT jobs/${first}/reschedule {"runAt":"2027-01-31T08:00:00Z"}`,
    ],
    [['rename', '--name', 'old', '--to-name', 'new'], 'PUT jobs/rename?name=old {"toName":"new"}'],
    [
      ['edit', String(first), '--tags', 'vip', 'eu', '--max-attempts', '5', '--args', '{"a":1}'],
      `PATCH jobs/${first} {"maxAttempts":5,"tags":["vip","eu"],"args":{"a":1}}`,
    ],
    [
      ['signal', String(first), 'packed', '--data', '{"weight":3}', '--id', 'parcel:1'],
      `PUT jobs/${first}/signal {"name":"packed","data":{"weight":3},"id":"parcel:1"}`,
    ],
    [
      ['signal', '--correlate', 'order:7', 'packed', '--reason', 'By telephone'],
      'PUT jobs/signal {"correlate":"order:7","name":"packed","reason":"By telephone"}',
    ],
    [['rerun-from', String(first), 'label'], `PUT jobs/${first}/rerun-from {"step":"label"}`],
    [['steps', String(first)], `GET jobs/${first}/steps?limit=1000`],
    [['queues'], 'GET queues?limit=100'],
    [
      ['queues', 'pause', 'mail/eu', '--until', '2027-01-31T08:00:00Z'],
      'PUT queues/mail%2Feu/pause {"until":"2027-01-31T08:00:00Z"}',
    ],
    [
      ['queues', 'delete', 'mail', '--reason', 'no longer used'],
      'DELETE queues/mail?reason=no%20longer%20used',
    ],
    [
      ['queues', 'create', 'mail', '--concurrency-limit', '3', '--rate-limit', '{"jobs":10,"periodMs":1000}'],
      'POST queues {"name":"mail","concurrencyLimit":3,"rateLimit":{"jobs":10,"periodMs":1000}}',
    ],
    [
      ['queues', 'limit', 'mail', '--concurrency-limit', 'null'],
      'PATCH queues/mail {"concurrencyLimit":null}',
    ],
    [
      [
        'queues',
        'limit-key',
        'mail',
        '--concurrency-key',
        'tenant-7',
        '--limit',
        '5',
        '--reason',
        'large order',
      ],
      'PUT queues/mail/limit-key {"concurrencyKey":"tenant-7","limit":5,"reason":"large order"}',
    ],
    [['queues', 'purge', 'mail', '--reason', 'wrong list'], 'PUT queues/mail/purge {"reason":"wrong list"}'],
    [
      ['set-aside', 'discard', String(first), '--reason', 'beyond repair'],
      `DELETE set-aside-items/${first}?reason=beyond%20repair`,
    ],
    [
      ['installations', 'resume', 'longshore', '--reason', 'checked'],
      'PUT installations/longshore/resume {"reason":"checked"}',
    ],
    [
      ['deployments', 'record', '1.4.0', '--note', 'Faster mail'],
      'POST deployments {"version":"1.4.0","note":"Faster mail"}',
    ],
    [
      ['recurring', 'create', 'nightly', '--name', 'report', '--cron', '0 3 * * *', '--args', '{"days":1}'],
      'POST recurring-jobs {"id":"nightly","name":"report","args":{"days":1},"cron":"0 3 * * *"}',
    ],
    [
      ['recurring', 'edit', 'nightly', '--time-zone', 'Europe/Berlin'],
      'PATCH recurring-jobs/nightly {"timeZone":"Europe/Berlin"}',
    ],
    [
      ['keys', 'create', 'shop', '--scopes', 'read', 'write', '--queues', 'mail'],
      'POST api-keys {"name":"shop","scopes":["read","write"],"queues":["mail"]}',
    ],
    [['keys', 'edit', 'cafe', '--queues', 'mail', 'sms'], 'PATCH api-keys/cafe {"queues":["mail","sms"]}'],
    [['keys', 'delete', 'cafe', '--reason', 'leaked'], 'DELETE api-keys/cafe?reason=leaked'],
    [['keys'], 'GET api-keys?limit=100'],
    [['statistics'], 'GET statistics'],
    [['run', String(first)], `PUT jobs/${first}/run {}`],
    [['run', '--queue', 'mail', '--state', 'scheduled'], 'PUT jobs/run?state=scheduled&queue=mail {}'],
    [['delete', String(first), '--reason', 'personal data'], `DELETE jobs/${first}?reason=personal%20data`],
    [
      ['delete', '--tag', 'night', '--reason', 'personal data'],
      'PUT jobs/delete?tag=night {"reason":"personal data"}',
    ],
    [
      ['recurring', 'pause', 'nightly/eu', '--reason', 'stock-taking'],
      'PUT recurring-jobs/nightly%2Feu/pause {"reason":"stock-taking"}',
    ],
    [['types', 'resume', 'greet'], 'PUT job-types/greet/resume {}'],
    [['recurring', 'trigger', 'nightly'], 'PUT recurring-jobs/nightly/trigger {}'],
    [['batches', 'cancel', String(first)], `PUT batches/${first}/cancel {}`],
    [['servers', 'quiet', String(first)], `PUT servers/${first}/quiet {}`],
    [['bulk', 'stop', String(first)], `PUT bulk-operations/${first}/stop {}`],
    [
      ['enqueue', 'greet', '--run-at', '2027-01-31T08:00:00Z', '--unique', 'ada', '--idempotency-key', 'k'],
      'POST jobs {"name":"greet","args":{},"runAt":"2027-01-31T08:00:00Z","unique":{"key":"ada"},"idempotencyKey":"k"}',
    ],
  ] as const)
    it(`sends one request for longshore ${args.join(' ')}`, async () => {
      const { code, errors } = await run(args);
      expect([requests, code, errors]).to.deep.equal([[request], 0, '']);
    });

  it('enqueues the jobs of standard input in one request, one a line', async () => {
    const input = '{"name":"greet","args":{"name":"Ada"}}\r\n\n  {"name":"greet","queue":"mail"}\n';
    const { code, errors } = await run(['enqueue-all'], installation.url, input);
    const jobs = '[{"name":"greet","args":{"name":"Ada"}},{"name":"greet","queue":"mail"}]';
    expect([requests, code, errors]).to.deep.equal([[`POST jobs ${jobs}`], 0, '']);
  });

  it('enqueues nothing if a line of standard input is not JSON', async () => {
    const { code, errors } = await run(['enqueue-all'], installation.url, '{"name":"greet"}\n{"name":');
    expect(errors).to.contain('The value is not JSON');
    expect([requests, code]).to.deep.equal([[], 2]);
  });

  it('takes the address of the API with and without its path', async () => {
    for (const path of ['', '/', '/api/v1', '/API/v1/'])
      expect((await run(['queues'], `${installation.url}${path}`)).code, path).to.equal(0);
    expect(requests).to.deep.equal(Array(4).fill('GET queues?limit=100'));
  });

  it('changes no jobs without ids or filters', async () => {
    for (const args of [['cancel'], ['cancel', String(first), '--queue', 'mail']]) {
      const { code, errors } = await run(args);
      expect(errors).to.contain('needs either the ids of jobs, or filters');
      expect(code).to.equal(1);
    }
    expect(requests).to.deep.equal([]);
  });

  it('sends no signal without the job or its key, or with both', async () => {
    for (const args of [['packed'], [String(first), 'packed', '--correlate', 'order:7']]) {
      const { code, errors } = await run(['signal', ...args]);
      expect(errors).to.contain(
        'needs the id of a job and the name of a signal, or --correlate and the name',
      );
      expect(code).to.equal(1);
    }
    expect(requests).to.deep.equal([]);
  });

  it('shows which cancelled jobs are still running', async () => {
    expect((await run(['cancel', String(first)])).out).to.contain('CANCEL REQUESTED AT');
  });

  it('prints its version', async () => {
    expect((await run(['--version'])).out).to.match(/^\d+\.\d+\.\d+\n$/);
  });
});
