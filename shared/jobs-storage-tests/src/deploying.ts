import { expect } from 'chai';
import { it } from 'mocha';
import { newId, type ServerRegistration } from '@longshore/jobs/storage';
import { type Fixture, hourMs } from './storage-under-test.js';

/** Defines the tests of recording and listing deployments. */
export function deploying(fixture: Fixture): void {
  const versions = async (): Promise<string[]> =>
    (await fixture.storage.deployments.list()).map(({ version }) => version);
  const start = async (version: string): Promise<() => Promise<void>> => {
    const queue = fixture.newQueue();
    const server = { host: 'deploying', pid: 1, queues: [queue], concurrency: 1, timeoutMs: hourMs, version };
    const registration = await fixture.storage.servers.register(server);
    return () => registration.unregister();
  };

  it('lists deployments, newest first, within a span', async () => {
    const { deployments } = fixture.storage;
    const at = new Date('2026-03-01T12:00:00Z');
    const first = await deployments.record({ version: 'listed-1', at, note: 'Faster mail' });
    const second = await deployments.record({ version: 'listed-2', at: new Date(at.getTime() + 1_000) });
    expect(first).to.include({ version: 'listed-1', note: 'Faster mail', source: 'api' });
    expect(await deployments.list({ from: at, until: new Date(at.getTime() + 60_000) })).to.deep.equal([
      second,
      first,
    ]);
    expect(await deployments.list({ from: at, until: second.at })).to.deep.equal([first]);
    expect(await deployments.find(first.id)).to.deep.equal(first);
    expect([await deployments.delete(first.id), await deployments.delete(first.id)]).to.deep.equal([
      true,
      false,
    ]);
    expect(await deployments.find(first.id)).to.equal(null);
  });

  for (const [what, deployment] of [
    ['a time before 1970', { version: 'early', at: new Date('1969-12-31T23:59:59Z') }],
    ['an invalid time', { version: 'never', at: new Date(Number.NaN) }],
    ['a long version', { version: 'v'.repeat(101) }],
    ['an empty version', { version: '' }],
    ['a version with NUL', { version: 'a\0b' }],
    ['a long note', { version: 'noted', note: 'n'.repeat(501) }],
  ] as const)
    it(`refuses ${what}`, async () => {
      const refused = await fixture.storage.deployments.record(deployment).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(RangeError);
    });

  it('records one version of servers that start at the same moment, even if a later deployment is planned', async () => {
    const at = new Date((await fixture.storage.readClock()).getTime() + hourMs);
    const planned = await fixture.storage.deployments.record({ version: 'planned', at });
    const stops = await Promise.all(Array.from({ length: 6 }, () => start('at-once')));
    for (const stop of stops) await stop();
    await (
      await start('at-once')
    )();
    await fixture.storage.deployments.delete(planned.id);
    expect((await versions()).filter((version) => version === 'at-once')).to.have.length(1);
  });

  it('records a version when its first server registers and when it returns later, but not when an old server restarts', async () => {
    const before = (await versions()).length;
    const noted = async (): Promise<string[]> => (await versions()).slice(0, -before || undefined);
    const stops = [await start('noted-a'), await start('noted-a')];
    stops.push(await start('noted-b'), await start('noted-a'));
    expect(await noted()).to.deep.equal(['noted-b', 'noted-a']);
    for (const stop of stops) await stop();
    const stop = await start('noted-a');
    await stop();
    expect(await noted()).to.deep.equal(['noted-a', 'noted-b', 'noted-a']);
  });

  it('knows the versions of servers, also after they stopped and others started', async () => {
    const { servers, deployments } = fixture.storage;
    const register = (version?: string): Promise<ServerRegistration> =>
      servers.register({
        host: 'versions',
        pid: 1,
        queues: [fixture.newQueue()],
        concurrency: 1,
        timeoutMs: hourMs,
        ...(version !== undefined && { version }),
      });
    const [stopped, running, unversioned] = [
      await register('2.4.0'),
      await register('2.3.9'),
      await register(),
    ];
    await stopped.unregister();
    await (await register('2.3.9')).unregister();
    const known = await deployments.versionsOf([stopped.id, running.id, unversioned.id, newId(), 'no id']);
    expect(known).to.deep.equal(
      new Map([
        [stopped.id, '2.4.0'],
        [running.id, '2.3.9'],
      ]),
    );
    for (const server of [running, unversioned]) await server.unregister();
  });
}
