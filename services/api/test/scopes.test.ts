import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { MemoryStorage } from '@longshore/jobs';
import { httpClient } from '@longshore/test-support';
import { scopeMeanings } from '../src/access/access.js';
import { apiKeyScopes } from '@longshore/jobs/operations';
import { adminKey } from './support/running-api.js';
import { serveResources } from './support/served-resources.js';

interface DocumentedOperation {
  readonly 'x-scope'?: string;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** The scope that each call requires, as in the table of docs/access.md. */
const expected: Readonly<Record<string, string>> = {
  'GET /jobs': 'read',
  'GET /jobs/{jobId}': 'read',
  'GET /jobs/{jobId}/attempts': 'read',
  'POST /jobs': 'write',
  'DELETE /jobs/{jobId}': 'write',
  'PUT /jobs/{jobId}/cancel': 'operate',
  'PUT /jobs/{jobId}/retry': 'operate',
  'PUT /jobs/{jobId}/run': 'operate',
  'GET /queues': 'read',
  'PUT /queues/{queueName}/pause': 'operate',
  'PUT /queues/{queueName}/resume': 'operate',
  'PATCH /queues/{queueName}': 'operate',
  'PUT /queues/{queueName}/limit-key': 'operate',
  'PUT /queues/{queueName}/purge': 'operate',
  'POST /queues/{queueName}/jobs': 'write',
  'GET /servers': 'read',
  'PUT /servers/{serverId}/quiet': 'operate',
  'PUT /servers/{serverId}/stop': 'operate',
  'POST /recurring-jobs': 'write',
  'DELETE /recurring-jobs/{recurringJobId}': 'write',
  'PUT /recurring-jobs/{recurringJobId}/trigger': 'operate',
  'POST /batches': 'write',
  'PUT /batches/{batchId}/cancel': 'operate',
  'GET /job-definitions': 'read',
  'GET /orders': 'read',
  'POST /orders': 'write',
  'DELETE /orders': 'write',
  'PUT /orders/{orderId}/refund': 'write',
  'GET /api-keys': 'admin',
  'POST /api-keys': 'admin',
  'PATCH /api-keys/{apiKeyId}': 'admin',
  'DELETE /api-keys/{apiKeyId}': 'admin',
};

/** True for the public paths: the index and the error pages. */
const isOpen = (path: string): boolean => path === '/' || path.startsWith('/errors/');

describe('Scopes', () => {
  const storage = new MemoryStorage();
  const tokens = new Map<string, string>();
  const operations = new Map<string, DocumentedOperation>();
  let server: { url: string; close: () => Promise<void> };

  before(async () => {
    server = await serveResources(storage);
    for (const scope of apiKeyScopes) {
      const headers = { authorization: `Bearer ${adminKey}` };
      const body = { name: scope, scopes: [scope] };
      const made = await httpClient(server.url).post('/api/v1/api-keys', body, { headers });
      tokens.set(scope, (made.json() as { key: string }).key);
    }
    const document = (await httpClient(server.url).get('/api/v1/openapi.json')).json() as {
      paths: Record<string, Record<string, DocumentedOperation>>;
    };
    for (const [path, item] of Object.entries(document.paths)) {
      for (const method of methods) {
        const operation = item[method];
        if (operation !== undefined && !isOpen(path))
          operations.set(`${method.toUpperCase()} ${path}`, operation);
      }
    }
  });
  after(async () => {
    await server.close();
    await storage.close();
  });

  /** Returns the status of a call. Does not read the body, because it may be an endless stream. */
  const statusOf = async (call: string, scope: string | undefined): Promise<number> => {
    const [method = '', path = ''] = call.split(' ');
    const url = `${server.url}${path === '/test' ? '' : '/api/v1'}${path.replaceAll(/\{\w+\}/g, 'x')}`;
    const headers = scope === undefined ? {} : { authorization: `Bearer ${tokens.get(scope)}` };
    const response = await fetch(url, { method, headers });
    await response.body?.cancel();
    return response.status;
  };

  it('permit what the documentation says', async () => {
    const page = await readFile(new URL('../../../docs/access.md', import.meta.url), 'utf8');
    const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
    const described = rows.filter(([, scope]) => apiKeyScopes.some((known) => scope === `\`${known}\``));
    expect(described.map(([, scope, meaning]) => [scope, meaning])).to.deep.equal(
      apiKeyScopes.map((scope) => [`\`${scope}\``, scopeMeanings[scope]]),
    );
  });

  for (const [call, scope] of Object.entries(expected)) {
    it(`${call} requires ${scope}`, () => {
      expect(operations.get(call)?.['x-scope']).to.equal(scope);
    });
  }

  it('permit a documented call only if it requires them, apart from admin', async () => {
    const wrong: string[] = [];
    for (const [call, operation] of operations) {
      for (const scope of apiKeyScopes) {
        const isPermitted = (await statusOf(call, scope)) !== 403;
        if (isPermitted !== (scope === 'admin' || scope === operation['x-scope']))
          wrong.push(`${scope}: ${call}`);
      }
    }
    expect(operations.size).to.be.greaterThan(50);
    expect(wrong).to.deep.equal([]);
  });

  it('are required by every documented call: none works without credentials', async () => {
    const statuses = new Map<string, number>();
    for (const call of operations.keys()) statuses.set(call, await statusOf(call, undefined));
    const open = [...statuses].filter(([, status]) => status !== 401);
    expect(open).to.deep.equal([]);
  });

  it('POST /test requires write', async () => {
    const answers = [];
    for (const scope of [undefined, ...apiKeyScopes]) answers.push(await statusOf('POST /test', scope));
    expect(answers).to.deep.equal([401, 403, 202, 403, 202]);
  });
});
