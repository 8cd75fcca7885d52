import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serve } from '@longshore/test-support';
import { expect } from 'chai';
import { Installation } from '../src/installation.js';

describe('The key of an installation', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'longshore-key-'));
  });
  afterEach(() => {
    delete process.env['LONGSHORE_KEY'];
    delete process.env['LONGSHORE_KEY_FILE'];
  });
  after(() => rm(directory, { recursive: true }));

  it('can be in a file', async () => {
    const file = path.join(directory, 'key');
    await writeFile(file, 'lsk_from_file\n');
    process.env['LONGSHORE_KEY_FILE'] = file;
    const received: (string | undefined)[] = [];
    const server = await serve((request, response) => {
      received.push(request.headers.authorization);
      response.writeHead(404).end();
    });
    try {
      const answer = new Installation({ url: server.url }).call('GET', 'jobs');
      await answer.catch(() => undefined); // it is the first request that counts
      expect(received[0]).to.equal('Bearer lsk_from_file');
    } finally {
      await server.close();
    }
  });

  it('is not looked for in two places', () => {
    Object.assign(process.env, { LONGSHORE_KEY: 'lsk_a', LONGSHORE_KEY_FILE: path.join(directory, 'none') });
    expect(() => new Installation({ url: 'http://localhost' })).to.throw('are both set');
  });
});
