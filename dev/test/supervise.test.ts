import { fileURLToPath } from 'node:url';
import { freePort } from '@longshore/local-postgres';
import { expect } from 'chai';
import type { ServiceSpec } from '../src/service-process.js';
import { supervise, type Supervision } from '../src/supervise.js';

const main = fileURLToPath(new URL('fixtures/service.ts', import.meta.url));

async function spec(name: string, behaviour: string): Promise<ServiceSpec> {
  const port = await freePort();
  const env = { PORT: String(port), BEHAVIOUR: behaviour, NODE_OPTIONS: '--import=tsx' };
  return { name, main, url: `http://127.0.0.1:${port}`, env };
}

const never = new Promise<void>(() => undefined);
const hourMs = 3_600_000;

/**
 * Calls `supervise`. Returns its error or `null`, whether the services became ready, and the process ids that they
 * printed.
 */
async function watch(supervision: Partial<Supervision> & { specs: readonly ServiceSpec[] }) {
  const pids: number[] = [];
  let ready = false;
  const error = await supervise({
    interrupted: never,
    onLine: (_, line) => pids.push(Number(line.replace(/\D/g, ''))),
    onReady: () => (ready = true),
    onEnded: () => undefined,
    startDeadlineMs: hourMs,
    stopDeadlineMs: hourMs,
    restartDelayMs: 10,
    ...supervision,
  }).then(
    () => null,
    (failure: unknown) => failure,
  );
  return { error, ready, pids };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('supervise', () => {
  it('stops every service when it is interrupted', async () => {
    let interrupt = (): void => undefined;
    const interrupted = new Promise<void>((resolve) => (interrupt = resolve));
    const specs = [await spec('one', 'obedient'), await spec('two', 'obedient')];
    const { error, pids } = await watch({ specs, interrupted, onReady: () => interrupt() });
    expect(error).to.equal(null);
    expect(pids.map(isRunning)).to.deep.equal([false, false]);
  });

  it('kills a service that does not stop when asked', async () => {
    let interrupt = (): void => undefined;
    const interrupted = new Promise<void>((resolve) => (interrupt = resolve));
    const { pids } = await watch({
      specs: [await spec('mule', 'stubborn')],
      interrupted,
      onReady: () => interrupt(),
      stopDeadlineMs: 50,
    });
    expect(pids.map(isRunning)).to.deep.equal([false]);
  });

  it('restarts the service that ends by itself, and names it', async () => {
    let interrupt = (): void => undefined;
    const interrupted = new Promise<void>((resolve) => (interrupt = resolve));
    const frail = await spec('frail', 'obedient');
    const specs = [await spec('sound', 'obedient'), frail];
    const lines: string[] = [];
    const { error } = await watch({
      specs,
      interrupted,
      onLine: (name) => lines.push(name) === 3 && interrupt(),
      onReady: () => void fetch(new URL('/crash', frail.url)).catch(() => undefined),
      onEnded: (name, how) => expect(`${name}: ${how}`).to.equal('frail: exit code 4'),
    });
    expect(error).to.equal(null);
    expect(lines.toSorted()).to.deep.equal(['frail', 'frail', 'sound']);
  });

  it('replaces every service when the code has changed', async () => {
    let interrupt = (): void => undefined;
    const interrupted = new Promise<void>((resolve) => (interrupt = resolve));
    let restart: () => Promise<void> = async () => undefined;
    const { error, pids } = await watch({
      specs: [await spec('one', 'obedient')],
      interrupted,
      onStart: (replace) => (restart = replace),
      onReady: () => void restart().then(interrupt),
      onEnded: () => expect.fail('it did not end by itself'),
    });
    expect(error).to.equal(null);
    expect(pids.map(isRunning)).to.not.include(true);
  });

  it('does not wait for a service that fails to start', async () => {
    const { error, ready } = await watch({ specs: [await spec('broken', 'failing')] });
    expect(error).to.have.property('message', 'broken exited unexpectedly: exit code 3');
    expect(ready).to.equal(false);
  });

  it('names the service that does not become ready', async () => {
    const late = { ...(await spec('late', 'obedient')), url: `http://127.0.0.1:${await freePort()}` };
    const { error } = await watch({ specs: [late], startDeadlineMs: 1 });
    expect(error).to.have.property('message', 'late did not become ready.');
  });

  it('stops every service when the database ends by itself', async () => {
    const { error, pids } = await watch({
      specs: [await spec('one', 'obedient')],
      databaseEnded: Promise.resolve(),
    });
    expect(error).to.have.property('message', 'Postgres exited unexpectedly.');
    expect(pids.map(isRunning)).to.not.include(true);
  });
});
