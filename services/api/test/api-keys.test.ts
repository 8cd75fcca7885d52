import { expect } from 'chai';
import { MemoryStorage } from '@longshore/jobs';
import { createApplicationDatabase } from 'longshore';
import { inTransaction } from '@longshore/resources';
import {
  createTestDatabase,
  eventually,
  nextMillisecond,
  patientStorage,
  type TestDatabase,
} from '@longshore/test-support';
import { newApiKey } from '../src/access/api-key.js';
import { tableApiKeyStore } from '../src/access/table-api-key-store.js';
import { apiTables } from '../src/storage.js';
import { adminKey, runApi, type RunningApi } from './support/running-api.js';

const keys = '/api/v1/api-keys';

const storages = {
  memory: async () => ({ environment: {}, database: undefined }),
  Postgres: async () => {
    const database = await createTestDatabase();
    return { environment: { API_STORAGE: 'postgres', DATABASE_URL: database.url }, database };
  },
};

for (const [name, open] of Object.entries(storages)) {
  describe(`API keys in ${name}`, () => {
    let api: RunningApi;
    let database: TestDatabase | undefined;
    before(async () => {
      const opened = await open();
      database = opened.database;
      api = await runApi(opened.environment);
    });
    after(async () => {
      await api.stop();
      await database?.drop();
    });

    const admin = { token: adminKey };
    const jobs = (token: string) => api.call('GET', '/api/v1/jobs', { token });

    it('are shown once, in the response to the POST', async () => {
      const made = await api.call('POST', keys, { ...admin, json: { name: 'shop', scopes: ['read'] } });
      const { key, ...rest } = made.json() as { id: string; key: string };
      const read = await api.call('GET', `${keys}/${rest.id}`, admin);
      expect(made.status).to.equal(201);
      expect(key).to.match(new RegExp(`^lsk_${rest.id}_[0-9a-f]{64}$`));
      expect(read.json()).to.deep.equal(rest);
      expect((await api.call('GET', keys, admin)).text).not.to.contain(key.slice(21));
    });

    it('have a name, scopes, queues, an expiry and a creator', async () => {
      const json = {
        name: 'all',
        scopes: ['write'],
        queues: ['mail'],
        expiresAt: '2999-01-01T00:00:00.000Z',
      };
      const made = await api.call('POST', keys, { ...admin, json });
      expect(made.json()).to.include({ name: 'all', expiresAt: json.expiresAt, createdBy: 'API_ADMIN_KEY' });
      expect(made.json()).to.deep.include({ scopes: ['write'], queues: ['mail'], lastUsedAt: null });
    });

    for (const [what, json] of Object.entries({
      'no scope': { name: 'x', scopes: [] },
      'an unknown scope': { name: 'x', scopes: ['everything'] },
      'no name': { scopes: ['read'] },
      'an empty list of queues': { name: 'x', scopes: ['read'], queues: [] },
    })) {
      it(`are rejected with ${what}`, async () => {
        expect((await api.call('POST', keys, { ...admin, json })).status).to.equal(422);
      });
    }

    it('are accepted as a bearer token and as X-Api-Key', async () => {
      const { token } = await api.makeKey({});
      const asHeader = await api.call('GET', '/api/v1/jobs', { headers: { 'x-api-key': token } });
      expect([(await jobs(token)).status, asHeader.status]).to.deep.equal([200, 200]);
    });

    it('are rejected if a digit is wrong', async () => {
      const { token } = await api.makeKey({});
      const wrong = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
      const { status, headers } = await jobs(wrong);
      expect(status).to.equal(401);
      expect(headers['www-authenticate']).to.contain('error="invalid_token"');
    });

    it('are rejected and deleted once revoked', async () => {
      const { id, token } = await api.makeKey({});
      const before = await jobs(token);
      const revoked = await api.call('DELETE', `${keys}/${id}`, admin);
      const after = await jobs(token);
      const gone = await api.call('GET', `${keys}/${id}`, admin);
      expect([before, revoked, after, gone].map(({ status }) => status)).to.deep.equal([200, 204, 401, 404]);
    });

    it('are logged when they are created, changed and revoked', async () => {
      const { id } = await api.makeKey({});
      await api.call('PATCH', `${keys}/${id}`, { ...admin, json: { name: 'other' } });
      await api.call('DELETE', `${keys}/${id}`, admin);
      const lines = api
        .log()
        .split('\n')
        .filter((line) => line.includes(id) && line.includes('"action"'));
      const events = lines.map((line) => (JSON.parse(line) as { action: string; by: string }).action);
      expect(events).to.deep.equal(['created', 'changed', 'revoked']);
      expect(lines[2]).to.contain('"by":"API_ADMIN_KEY"');
    });

    it('have every change in the audit, with the values before and without the secret', async () => {
      const { id, token } = await api.makeKey({ scopes: ['read'] });
      await api.call('PATCH', `${keys}/${id}`, { ...admin, json: { scopes: ['write'] } });
      await api.call('DELETE', `${keys}/${id}?reason=leaked`, admin);
      const audit = `/api/v1/audit-entries?target=${id}&sort=at&fields=who,action,reason,values,before`;
      const answer = await api.call('GET', audit, admin);
      const entries = answer.json() as {
        who: string;
        action: string;
        reason: string | null;
        before: unknown;
      }[];
      expect(entries.map(({ who, action, reason }) => [who, action, reason])).to.deep.equal([
        ['API_ADMIN_KEY', 'keys/create', null],
        ['API_ADMIN_KEY', 'keys/edit', null],
        ['API_ADMIN_KEY', 'keys/delete', 'leaked'],
      ]);
      expect(entries[1]?.before).to.deep.equal({ scopes: ['read'] });
      expect(answer.text).not.to.contain(token.slice(21));
    });

    it('are rejected after their expiry', async () => {
      const { id, token } = await api.makeKey({ expiresAt: '2020-01-01T00:00:00Z' });
      const { status, text } = await jobs(token);
      expect(status).to.equal(401);
      expect(text).to.contain('The API key has expired');
      await api.call('PATCH', `${keys}/${id}`, { ...admin, json: { expiresAt: null } });
      expect((await jobs(token)).status).to.equal(200);
    });

    it('get changed scopes immediately', async () => {
      const { id, token } = await api.makeKey({ scopes: ['write'] });
      const before = await jobs(token);
      await api.call('PATCH', `${keys}/${id}`, { ...admin, json: { scopes: ['read', 'write'] } });
      expect([before.status, (await jobs(token)).status]).to.deep.equal([403, 200]);
    });

    it('show when they were last used', async () => {
      const { id, token } = await api.makeKey({});
      await jobs(token);
      await eventually(async () => {
        const key = (await api.call('GET', `${keys}/${id}`, admin)).json() as { lastUsedAt: string | null };
        return key.lastUsedAt !== null;
      });
    });

    it('can be searched by part of their name, and sorted', async () => {
      for (const key of ['zebra farm', 'zebra barn']) await api.makeKey({ name: key });
      const found = await api.call('GET', `${keys}?name=ZEBRA&sort=name&fields=name`, admin);
      expect(found.json()).to.deep.equal([{ name: 'zebra barn' }, { name: 'zebra farm' }]);
      expect(found.headers['x-total-count']).to.equal('2');
    });

    it('can be changed with If-Match only in their current version', async () => {
      const { id } = await api.makeKey({});
      const change = { ...admin, json: { name: 'other' }, headers: { 'if-match': '"stale"' } };
      const removal = { ...admin, headers: { 'if-match': '"stale"' } };
      expect((await api.call('PATCH', `${keys}/${id}`, change)).status).to.equal(412);
      expect((await api.call('DELETE', `${keys}/${id}`, removal)).status).to.equal(412);
    });

    it('do not exist if their id is unknown', async () => {
      const unknown = `${keys}/0123456789abcdef`;
      const answers = [
        await api.call('GET', unknown, admin),
        await api.call('PATCH', unknown, { ...admin, json: { name: 'x' } }),
        await api.call('DELETE', unknown, admin),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([404, 404, 404]);
    });

    if (name === 'Postgres') {
      it('are created at a time of the database’s clock', async () => {
        const connected = createApplicationDatabase({ url: database?.url ?? '', ...patientStorage });
        const { keys: table } = apiTables({ DATABASE_SCHEMA: 'longshore' });
        const store = tableApiKeyStore(connected.pool, table, new MemoryStorage().audit);
        const times = await inTransaction(connected.pool, async (transaction) => {
          const { rows } = await transaction.query<{ now: Date }>('select now()');
          const startedAt = rows[0]?.now.getTime() ?? 0;
          await nextMillisecond();
          const terms = { name: 'timed', scopes: ['read'], queues: null, expiresAt: null } as const;
          const { createdAt } = await store.add(newApiKey(terms, null).key, { transaction });
          return [createdAt.getTime(), startedAt];
        });
        await connected.close();
        expect(times[0]).to.equal(times[1]);
      });

      it('leave no secret in the database, even if the POST had an Idempotency-Key', async () => {
        const made = await api.call('POST', keys, {
          ...admin,
          json: { name: 'hidden', scopes: ['read'] },
          headers: { 'idempotency-key': 'make-hidden' },
        });
        const { key } = made.json() as { key: string };
        const rows = await database?.query<{ text: string }>(
          `select api_key::text as text from longshore_api.api_key
           union all select idempotency_record::text from longshore_api.idempotency_record`,
        );
        const text = JSON.stringify(rows);
        expect(text).to.contain('hidden').and.not.contain(key.slice(21));
      });
    }
  });
}
