import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { firstIdOf, isId, newId } from '../src/storage.js';

const made = Array.from({ length: 50_000 }, () => newId());

describe('An id', () => {
  it('is a version 7 UUID', () => {
    const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(made.filter((id) => !uuid7.test(id))).to.deep.equal([]);
    expect(made.every(isId)).to.equal(true);
  });

  it('sorts after those generated before it, even within a millisecond', () => {
    expect(made.every((id, index) => index === 0 || id > (made[index - 1] ?? ''))).to.equal(true);
  });

  it('encodes the time of its creation', () => {
    const before = new Date();
    const id = newId();
    expect(id >= firstIdOf(before)).to.equal(true);
    expect(id < firstIdOf(new Date(Date.now() + 1_000))).to.equal(true);
  });

  it('encodes a given time', () => {
    const ms = Date.UTC(2030, 0, 1);
    const id = newId(ms);
    expect(id >= firstIdOf(new Date(ms)) && id < firstIdOf(new Date(ms + 1))).to.equal(true);
    expect(newId() < id).to.equal(true);
  });

  it('has each variant digit about equally often', () => {
    const counts = new Map<string, number>();
    for (const id of made) counts.set(id[19] ?? '', (counts.get(id[19] ?? '') ?? 0) + 1);
    for (const digit of '89ab') expect(counts.get(digit)).to.be.within(0.2 * made.length, 0.3 * made.length);
  });

  const module = new URL('../dist/job/id.js', import.meta.url).href;
  const making = `import(${JSON.stringify(module)}).then(({ newId }) => Array.from({ length: 20_000 }, () => newId()))`;

  it('is unique across processes and threads that generate ids concurrently', async () => {
    const inThread = (): Promise<string[]> =>
      new Promise((resolve, reject) => {
        const code = `${making}.then((ids) => require('node:worker_threads').parentPort.postMessage(ids))`;
        // Without the conditions of this process, which would import sources.
        new Worker(code, { eval: true, execArgv: [] }).once('message', resolve).once('error', reject);
      });
    const inProcess = async (): Promise<string[]> => {
      const code = `${making}.then((ids) => console.log(ids.join()))`;
      const { stdout } = await promisify(execFile)(process.execPath, ['-e', code], { maxBuffer: 2 ** 24 });
      return stdout.trim().split(',');
    };
    const makers = [inThread, inThread, inThread, inProcess, inProcess];
    const ids = [...made, ...(await Promise.all(makers.map((make) => make()))).flat()];
    expect(ids).to.have.length(made.length + 100_000);
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('has 62 random bits besides the counter', () => {
    const columns = Array.from({ length: 64 }, () => 0);
    const tails = made.map((id) => BigInt(`0x${id.slice(19).replaceAll('-', '')}`));
    for (const tail of tails)
      for (let bit = 0; bit < 64; bit++)
        if (((tail >> BigInt(bit)) & 1n) === 1n) columns[bit] = (columns[bit] ?? 0) + 1;
    const random = columns.filter((ones) => ones > 0.45 * made.length && ones < 0.55 * made.length);
    expect(random).to.have.length(62);
    expect(new Set(tails).size).to.equal(made.length);
  });
});
