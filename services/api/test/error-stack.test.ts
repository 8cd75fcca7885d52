import { MemoryStorage } from '@longshore/jobs';
import { httpClient } from '@longshore/test-support';
import { expect } from 'chai';
import { adminKey } from './support/running-api.js';
import { serveResources } from './support/served-resources.js';

class BrokenStorage extends MemoryStorage {
  constructor() {
    super();
    this.servers.list = () => Promise.reject(new Error('broken on purpose'));
  }
}

describe('API_ERROR_STACK=trusted', () => {
  /** Sends a failing request, using a key with the given scope. Returns the status and body of the response. */
  const answerTo = async (scope: string): Promise<string> => {
    const storage = new BrokenStorage();
    const server = await serveResources(storage, { API_ERROR_STACK: 'trusted' });
    const client = httpClient(server.url);
    const admin = { authorization: `Bearer ${adminKey}` };
    const made = await client.post('/api/v1/api-keys', { name: 'test', scopes: [scope] }, { headers: admin });
    const headers = { 'x-api-key': (made.json() as { key: string }).key };
    const { status, text } = await client.get('/api/v1/servers', { headers });
    await server.close();
    await storage.close();
    return `${status} ${text}`;
  };

  it('shows stacks to keys with the scope admin', async () => {
    expect(await answerTo('admin'))
      .to.match(/^500 /)
      .and.contain('broken on purpose')
      .and.contain('error-stack.test');
  });

  it('shows only an incident id to other keys', async () => {
    expect(await answerTo('read'))
      .to.match(/^500 .*Incident [0-9a-f-]{36}"/)
      .and.not.contain('broken on purpose');
  });
});
