import { type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { MemoryStorage } from '@longshore/jobs';
import { newId } from '@longshore/jobs/storage';
import { eventually, ManualClock, serve } from '@longshore/test-support';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { AlertSender, type WebhookOptions } from '../src/index.js';

const secret = Buffer.alloc(32, 7).toString('base64');

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: {
    readonly type?: string;
    readonly text: string;
    readonly data?: { readonly key: string; readonly url: string | null };
  };
}

/** Starts a webhook receiver that records the messages about queues. */
async function receiver(status: () => number = () => 204) {
  const received: Received[] = [];
  const server = await serve((request, response) => {
    void text(request).then((body) => {
      const message = JSON.parse(body) as Received['body'];
      // Ignores other messages, such as the warning that the storage's clock differs from this process's clock.
      if (message.text.includes('Queue'))
        received.push({ headers: request.headers, text: body, body: message });
      response.writeHead(status()).end('an answer');
    });
  });
  return { ...server, received };
}

describe('alerts', () => {
  let clock: ManualClock;
  let storage: MemoryStorage;
  let jobId: string;
  const closing: (() => Promise<unknown>)[] = [];
  const errors: string[] = [];

  beforeEach(async () => {
    clock = new ManualClock();
    storage = new MemoryStorage({ clock });
    errors.length = 0;
    await storage.queues.pause('mail', { by: 'ann', reason: 'PSP outage' });
    jobId = newId();
    await storage.enqueuer.enqueue([
      { id: jobId, name: 'work', queue: 'mail', priority: 0, args: '{}', maxAttempts: 1, due: null },
    ]);
    await storage.servers.register({
      host: 'host',
      pid: 1,
      queues: ['mail'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
  });
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  const webhook = (url: string, options: Partial<WebhookOptions> = {}): WebhookOptions => ({
    url,
    secret,
    format: 'standard',
    allowsHttp: true,
    ...options,
  });

  function start(...webhooks: readonly WebhookOptions[]): AlertSender {
    const sender = new AlertSender({
      storage,
      webhooks,
      instance: 'staging',
      baseUrl: 'https://ops.example/jobs/',
      everyMs: 0,
      pollMs: 5,
      timeoutMs: 3_600_000,
      onError: (error) => errors.push(error.message),
    });
    sender.start();
    closing.push(() => sender.stop());
    return sender;
  }

  async function receive(status?: () => number) {
    const hook = await receiver(status);
    closing.push(() => hook.close());
    return hook;
  }

  it('sends a signed message to each webhook when a warning begins, and one when it has been over for two minutes', async () => {
    const [one, other] = [await receive(), await receive()];
    start(webhook(one.url), webhook(other.url));
    await eventually(() => expect([one.received.length, other.received.length]).to.deep.equal([1, 1]));
    const [began] = one.received;
    if (began === undefined) throw new Error('nothing was received');
    expect(new Webhook(secret).verify(began.text, began.headers as Record<string, string>)).to.deep.equal(
      began.body,
    );
    expect(began.body.type).to.equal('warning.began');
    expect(began.body.text).to.match(
      /^staging: Queue “mail” was paused by ann .*: PSP outage\. 1 job is ready there\. .* https:\/\/ops\.example\/jobs\/queues\/mail$/,
    );

    await storage.queues.resume('mail');
    clock.advance(60_000);
    await storage.queues.pause('mail');
    clock.advance(60_000);
    await storage.queues.resume('mail');
    await storage.control.cancel(jobId);
    await eventually(() => {
      clock.advance(10_000);
      return expect(one.received).to.have.length(2);
    });
    expect(one.received[1]?.body.type).to.equal('warning.ended');
    expect(one.received[1]?.body.data?.key).to.equal(began.body.data?.key);
  });

  it('sends the message of a rule only to the webhooks that the rule names', async () => {
    const [billing, ops] = [await receive(), await receive()];
    await storage.warningRules.synchronize('shop', [
      { name: 'prompt', about: { queue: 'cards' }, waitingMs: 1_000, tell: ['billing'] },
    ]);
    await storage.enqueuer.enqueue([
      { id: newId(), name: 'work', queue: 'cards', priority: 0, args: '{}', maxAttempts: 1, due: null },
    ]);
    clock.advance(2_000);
    start(webhook(ops.url, { name: 'ops' }), webhook(billing.url, { name: 'billing' }));
    const ofRule = ({ body }: Received): boolean => body.text.includes('prompt');
    await eventually(() => expect(billing.received.filter(ofRule)).to.have.length(1));
    // Messages of one check are announced together, so this one would have come with the other.
    await eventually(() => expect(ops.received).not.to.have.length(0));
    expect(ops.received.filter(ofRule)).to.have.length(0);
  });

  it('sends each message once, however many processes there are', async () => {
    const hook = await receive();
    for (let count = 0; count < 4; count++) start(webhook(hook.url));
    await eventually(() => expect(hook.received).to.have.length(1));
    await storage.queues.pause('other');
    await storage.enqueuer.enqueue([
      { id: newId(), name: 'work', queue: 'other', priority: 0, args: '{}', maxAttempts: 1, due: null },
    ]);
    await eventually(() => {
      clock.advance(1_000);
      return expect(hook.received).to.have.length(2);
    });
    expect(new Set(hook.received.map(({ headers }) => headers['webhook-id'])).size).to.equal(2);
  });

  it('sends only the text, with Slack’s characters escaped, in the format of Slack', async () => {
    const hook = await receive();
    await storage.queues.resume('mail');
    await storage.queues.pause('mail', { reason: '<!channel> & more' });
    start(webhook(hook.url, { format: 'slack', secret: undefined }));
    await eventually(() => expect(hook.received).to.have.length(1));
    const [message] = hook.received;
    expect(Object.keys(message?.body ?? {})).to.deep.equal(['text']);
    expect(message?.body.text).to.include('&lt;!channel&gt; &amp; more');
    expect(message?.headers).not.to.have.property('webhook-signature');
  });

  it('repeats a message with the same id until it is accepted, and reports the failures', async () => {
    let status = 500;
    const hook = await receive(() => status);
    start(webhook(hook.url));
    await eventually(async () => expect(await storage.alerts.listFailures(10)).not.to.have.length(0));
    expect(errors[0]).to.equal('It responded with 500: an answer');
    status = 200;
    await eventually(async () => {
      clock.advance(5_000);
      return expect(await storage.alerts.listFailures(10)).to.have.length(0);
    });
    expect(new Set(hook.received.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
  });

  it('neither follows redirects nor reveals the URL when a webhook cannot be reached', async () => {
    const hook = await receive(() => 307);
    const closed = await receiver();
    await closed.close();
    start(webhook(hook.url), webhook(`${closed.url}/secret-path`));
    await eventually(() => expect(new Set(errors)).to.have.property('size', 2));
    expect([...new Set(errors)].toSorted()).to.deep.equal([
      'It cannot be reached: ECONNREFUSED',
      'It responded with 307: an answer',
    ]);
  });

  it('refuses two webhooks with the same name', () => {
    const webhooks = ['https://hooks.example/x', 'https://hooks.example/y'].map((url) =>
      webhook(url, { name: 'ops' }),
    );
    expect(() => new AlertSender({ storage, webhooks })).to.throw(
      TypeError,
      'The alert URLs have the name "ops" twice',
    );
  });

  it('refuses a webhook without https in production, and a secret that is too short', () => {
    const sender = (options: WebhookOptions) => () => new AlertSender({ storage, webhooks: [options] });
    expect(sender(webhook('http://hooks.example/x', { allowsHttp: false }))).to.throw(TypeError, 'https');
    expect(sender(webhook('hooks.example'))).to.throw(TypeError, 'not an http or https URL');
    expect(sender(webhook('https://hooks.example/x', { secret: 'short' }))).to.throw(
      TypeError,
      'openssl rand',
    );
  });
});
