import { expect } from 'chai';
import { createLogger, type OnRelease, startService } from '../src/run-service.js';

describe('A service that has acquired something', () => {
  const logger = createLogger('test', 'silent');
  let released: string[];

  beforeEach(() => (released = []));

  const acquire = (onRelease: OnRelease, name: string, error?: Error): void =>
    onRelease(async () => {
      released.push(name);
      if (error !== undefined) throw error;
    });

  it('releases it once when it is stopped, last acquired first', async () => {
    const service = await startService(logger, new AbortController().signal, async (onRelease) => {
      acquire(onRelease, 'storage');
      acquire(onRelease, 'port');
      return undefined;
    });
    expect(released).to.deep.equal([]);
    await Promise.all([service.stop(), service.stop()]);
    expect(released).to.deep.equal(['port', 'storage']);
  });

  it('releases it if it cannot start', async () => {
    const failure = new Error('no port');
    const starting = startService(logger, new AbortController().signal, async (onRelease) => {
      acquire(onRelease, 'storage');
      throw failure;
    });
    expect(await starting.catch((error: unknown) => error)).to.equal(failure);
    expect(released).to.deep.equal(['storage']);
  });

  it('releases it if it is stopped in the last moment of its start', async () => {
    const stopping = new AbortController();
    const starting = startService(logger, stopping.signal, async (onRelease) => {
      acquire(onRelease, 'storage');
      stopping.abort(new Error('stopped'));
      return undefined;
    });
    expect(await starting.catch((error: unknown) => error)).to.equal(stopping.signal.reason);
    expect(released).to.deep.equal(['storage']);
  });

  it('acquires nothing if it was stopped before', async () => {
    const starting = startService(logger, AbortSignal.abort(new Error('stopped')), async (onRelease) => {
      acquire(onRelease, 'storage');
      return undefined;
    });
    expect(String(await starting.catch((error: unknown) => error))).to.equal('Error: stopped');
    expect(released).to.deep.equal([]);
  });

  it('releases the rest if something cannot be released, and reports that', async () => {
    const failure = new Error('stuck');
    const service = await startService(logger, new AbortController().signal, async (onRelease) => {
      acquire(onRelease, 'storage');
      acquire(onRelease, 'port', failure);
      return undefined;
    });
    expect(await service.stop().catch((error: unknown) => error)).to.equal(failure);
    expect(released).to.deep.equal(['port', 'storage']);
  });

  it('passes on the signal that says that it has ended by itself', async () => {
    const { signal } = new AbortController();
    const service = await startService(logger, new AbortController().signal, async () => signal);
    expect(service.ended).to.equal(signal);
    await service.stop();
  });
});
