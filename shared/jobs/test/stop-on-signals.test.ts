import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { stopOnSignals } from '../src/index.js';

const source = fileURLToPath(new URL('../src/index.ts', import.meta.url));

/** A program with a running job, a timer that would keep it alive, and these steps. */
const program = (steps: string): string => `
import { defineJob, handleJob, JobClient, JobServer, MemoryStorage, stopOnSignals } from ${JSON.stringify(source)};

const storage = new MemoryStorage();
await storage.open();
let finish = () => undefined;
const work = defineJob({ name: 'work' });
const handler = handleJob(work, () => {
  console.log('running');
  return new Promise((resolve) => (finish = resolve)).then(() => console.log('finished'));
});
const server = new JobServer({ storage, handlers: [handler], stopTimeoutMs: 3_600_000 });
server.on('done', () => console.log('done'));
setInterval(() => undefined, 3_600_000);
const say = (text) => () => console.log(text);
stopOnSignals([${steps}]);
await server.start();
await new JobClient(storage).enqueue(work);
`;

describe('stopOnSignals', () => {
  const children = new Set<ChildProcess>();
  after(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  /** Starts the program and waits until its job is running. */
  async function started(steps: string): Promise<{
    readonly child: ChildProcess;
    readonly lines: string[];
    readonly ended: Promise<unknown>;
  }> {
    const args = ['--import=tsx', '--conditions=source', '--input-type=module', '--eval', program(steps)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    children.add(child);
    const lines: string[] = [];
    const output = createInterface({ input: child.stdout });
    output.on('line', (line) => lines.push(line));
    createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
    const ended = once(child, 'close').then(([code, signal]: unknown[]) => signal ?? code);
    await Promise.race([once(output, 'line'), ended]);
    expect(lines).to.deep.equal(['running']);
    return { child, lines, ended };
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    it(`takes the steps in order on ${signal}, lets the running job finish, and exits with 0`, async () => {
      const steps = `say('http'), () => (finish(), server.stop()), () => storage.close(), say('closed')`;
      const { child, lines, ended } = await started(steps);
      child.kill(signal);
      expect(await ended).to.equal(0);
      expect(lines).to.deep.equal(['running', 'http', 'finished', 'done', 'closed']);
    });

  it('takes the other steps if one fails, writes the error, and exits with 1', async () => {
    const steps = `() => Promise.reject(new Error('stuck')), () => (finish(), server.stop()), say('closed')`;
    const { child, lines, ended } = await started(steps);
    child.kill('SIGTERM');
    expect(await ended).to.equal(1);
    expect(lines.slice(0, 4)).to.deep.equal(['running', 'finished', 'done', 'closed']);
    expect(lines.join('\n')).to.match(/could not stop cleanly.*Error: stuck/s);
  });

  it('ends at once on a second signal', async () => {
    const { child, lines, ended } = await started(`say('stopping'), () => server.stop()`);
    child.kill('SIGTERM');
    while (!lines.includes('stopping')) await once(child.stdout ?? child, 'data');
    child.kill('SIGTERM');
    expect(await ended).to.equal('SIGTERM');
    expect(lines).to.deep.equal(['running', 'stopping']);
  });

  it('refuses steps that are not functions', () => {
    const untyped = stopOnSignals as (steps: unknown) => void;
    expect(() => untyped([null])).to.throw(
      TypeError,
      /stopOnSignals: steps\[\] must be a function, not null/,
    );
    expect(() => untyped(() => null)).to.throw(TypeError, /stopOnSignals: steps must be a list/);
  });
});
