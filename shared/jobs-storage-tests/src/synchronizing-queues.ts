import { JobServer, type QueuesInCode } from '@longshore/jobs';
import { expect } from 'chai';
import { it } from 'mocha';
import { steadyServer } from './serving-queue.js';
import type { Fixture } from './storage-under-test.js';

export function synchronizingQueues(fixture: Fixture): void {
  const settingsOf = async (queue: string): Promise<object> => {
    const found = await fixture.storage.queues.find(queue);
    return {
      concurrencyLimit: found?.concurrencyLimit,
      rateLimit: found?.rateLimit,
      isPaused: found?.pausedAt instanceof Date,
      differs: found?.inCode?.differs,
    };
  };
  const synchronize = (application: string, queues: QueuesInCode) =>
    fixture.storage.queues.synchronize(application, queues);
  const rate = { jobs: 5, periodMs: 1_000, burst: 5 };
  const open = { concurrencyLimit: null, rateLimit: null, isPaused: false };

  it('applies the settings that code defines, and says what it changed', async () => {
    const queue = fixture.newQueue();
    const inCode = { concurrencyLimit: 2, rateLimit: { jobs: 5, periodMs: 1_000 }, paused: true };
    const report = await synchronize(`app-${queue}`, { [queue]: inCode });
    expect(report).to.deep.equal({ changed: [queue], differing: [], refused: [] });
    expect(await settingsOf(queue)).to.deep.equal({
      concurrencyLimit: 2,
      rateLimit: rate,
      isPaused: true,
      differs: [],
    });
    expect((await fixture.storage.queues.find(queue))?.pausedBy).to.equal(`app-${queue}`);
  });

  it('changes nothing if the code is the same', async () => {
    const queue = fixture.newQueue();
    const inCode = { [queue]: { concurrencyLimit: 2, rateLimit: { jobs: 5, periodMs: 1_000 } } };
    await synchronize(`app-${queue}`, inCode);
    expect(await synchronize(`app-${queue}`, inCode)).to.deep.equal({
      changed: [],
      differing: [],
      refused: [],
    });
  });

  it('keeps an operator’s change until the code of that setting changes', async () => {
    const [queue, application] = [fixture.newQueue(), 'keeping'];
    await synchronize(application, { [queue]: { concurrencyLimit: 2, rateLimit: rate } });
    await fixture.storage.queues.limit(queue, { concurrencyLimit: 9, rateLimit: null });
    const same = await synchronize(application, { [queue]: { concurrencyLimit: 2, rateLimit: rate } });
    expect(same).to.deep.equal({ changed: [], differing: [queue], refused: [] });
    expect(await settingsOf(queue)).to.deep.include({
      concurrencyLimit: 9,
      differs: ['concurrencyLimit', 'rateLimit'],
    });
    await synchronize(application, { [queue]: { concurrencyLimit: 3, rateLimit: rate } });
    expect(await settingsOf(queue)).to.deep.include({
      concurrencyLimit: 3,
      rateLimit: null,
      differs: ['rateLimit'],
    });
    await synchronize(application, {});
  });

  it('removes what the code no longer defines, unless an operator has changed it', async () => {
    const [queue, application] = [fixture.newQueue(), 'removing'];
    await synchronize(application, { [queue]: { concurrencyLimit: 2, rateLimit: rate, paused: true } });
    await fixture.storage.queues.limit(queue, { concurrencyLimit: 9 });
    await synchronize(application, {});
    expect(await settingsOf(queue)).to.deep.equal({ ...open, concurrencyLimit: 9, differs: undefined });
  });

  it('leaves what the code does not mention to operators', async () => {
    const queue = fixture.newQueue();
    await fixture.storage.queues.limit(queue, { concurrencyLimit: 9 });
    await synchronize(`app-${queue}`, { [queue]: { rateLimit: rate } });
    expect(await settingsOf(queue)).to.deep.include({ concurrencyLimit: 9, rateLimit: rate, differs: [] });
  });

  it('refuses the queues of another application', async () => {
    const queue = fixture.newQueue();
    await synchronize('first', { [queue]: { concurrencyLimit: 2 } });
    const report = await synchronize('second', { [queue]: { concurrencyLimit: 3 } });
    expect(report).to.deep.equal({ changed: [], differing: [], refused: [queue] });
    expect(await settingsOf(queue)).to.deep.include({ concurrencyLimit: 2 });
    await synchronize('first', {});
  });

  it('has the same effect from many servers at once, with one audit entry', async () => {
    const queue = fixture.newQueue();
    await Promise.all(
      Array.from({ length: 6 }, () => synchronize(`app-${queue}`, { [queue]: { concurrencyLimit: 2 } })),
    );
    const entries = await fixture.storage.audit.list({ target: queue, limit: 10 });
    expect(entries.map(({ who, action }) => `${who} ${action}`)).to.deep.equal([`app-${queue} queues/limit`]);
  });

  it('happens when a server starts', async () => {
    const queue = fixture.newQueue();
    const server = new JobServer({
      storage: fixture.storage,
      handlers: [],
      queues: [queue],
      application: `app-${queue}`,
      queueSettings: { [queue]: { concurrencyLimit: 4 } },
      ...steadyServer,
    });
    await server.start();
    await server.stop();
    expect(await settingsOf(queue)).to.deep.include({ concurrencyLimit: 4 });
  });

  it('is applied again when the queue has been deleted', async () => {
    const queue = fixture.newQueue();
    await synchronize(`app-${queue}`, { [queue]: { concurrencyLimit: 2 } });
    expect(await fixture.storage.queues.delete(queue)).to.equal('deleted');
    await synchronize(`app-${queue}`, { [queue]: { concurrencyLimit: 2 } });
    expect(await settingsOf(queue)).to.deep.include({ concurrencyLimit: 2 });
  });

  for (const [settings, message] of [
    [{ concurrencyLimit: 0 }, /concurrencyLimit/],
    [{ paused: 'yes' }, /paused must be a boolean/],
    [{ limit: 1 }, /has no option "limit"/],
  ] as const)
    it(`refuses ${JSON.stringify(settings)}`, async () => {
      const error = await synchronize('bad', { [fixture.newQueue()]: settings as object }).catch(String);
      expect(error).to.match(message);
    });
}
