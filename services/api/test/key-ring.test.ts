import { MemoryStorage } from '@longshore/jobs';
import { expect } from 'chai';
import { newApiKey } from '../src/access/api-key.js';
import { type ApiKeyStore, memoryApiKeyStore } from '../src/access/api-key-store.js';
import { KeyRing } from '../src/access/key-ring.js';

/** Creates a key ring with a store that records calls. Both have a clock that only the test moves. */
async function ringWithKey() {
  const clock = { now: Date.now() };
  const { key, token } = newApiKey(
    { name: 'test', scopes: ['read'], queues: ['mail'], expiresAt: null },
    null,
  );
  const calls: string[] = [];
  const memory = memoryApiKeyStore({ now: () => clock.now }, new MemoryStorage().audit);
  const store: ApiKeyStore = {
    ...memory,
    find: async (id) => {
      calls.push('find');
      return memory.find(id);
    },
    noteUse: async () => void calls.push('noteUse'),
  };
  await store.add(key);
  const errors: unknown[] = [];
  const ring = new KeyRing(store, { now: () => clock.now, onError: (error) => errors.push(error) });
  return { ring, store, token, key, calls, clock, errors };
}

async function isRefused(attempt: Promise<unknown>): Promise<boolean> {
  return attempt.then(
    () => false,
    () => true,
  );
}

describe('A key ring', () => {
  it('knows a key’s bearer, scopes and queues', async () => {
    const { ring, token, key } = await ringWithKey();
    expect(await ring.principalOf(token)).to.deep.equal({
      name: `key ${key.id}`,
      scopes: ['read'],
      rowScope: ['mail'],
    });
  });

  it('looks up a key at most once in five seconds', async () => {
    const { ring, token, calls, clock } = await ringWithKey();
    await Promise.all([ring.principalOf(token), ring.principalOf(token)]);
    clock.now += 4_999;
    await ring.principalOf(token);
    expect(calls.filter((call) => call === 'find')).to.have.lengthOf(1);
  });

  it('rejects a key within five seconds of its revocation by another process', async () => {
    const { ring, store, token, key, clock } = await ringWithKey();
    await ring.principalOf(token);
    await store.remove(key.id);
    clock.now += 5_000;
    expect(await isRefused(ring.principalOf(token))).to.equal(true);
  });

  it('looks up an unknown id at most once in five seconds', async () => {
    const { ring, calls } = await ringWithKey();
    const { token } = newApiKey({ name: 'other', scopes: ['read'], queues: null, expiresAt: null }, null);
    const attempts = await Promise.all([ring.principalOf(token), ring.principalOf(token)].map(isRefused));
    expect([attempts, calls]).to.deep.equal([[true, true], ['find']]);
  });

  it('rejects a key from the moment it expires', async () => {
    const { ring, store, token, key, clock } = await ringWithKey();
    await store.change(key.id, (terms) => ({ ...terms, expiresAt: new Date(clock.now + 100) }));
    await ring.principalOf(token);
    clock.now += 100;
    expect(await isRefused(ring.principalOf(token))).to.equal(true);
  });

  it('records the use of a key at most once a minute', async () => {
    const { ring, token, calls, clock } = await ringWithKey();
    const notes = () => calls.filter((call) => call === 'noteUse').length;
    await ring.principalOf(token);
    clock.now += 59_999;
    await ring.principalOf(token);
    const within = notes();
    clock.now += 1;
    await ring.principalOf(token);
    expect([within, notes()]).to.deep.equal([1, 2]);
  });

  it('accepts a caller whose use cannot be recorded', async () => {
    const { store, token, errors } = await ringWithKey();
    const failure = new Error('no room');
    const failing = { ...store, noteUse: () => Promise.reject(failure) };
    const ring = new KeyRing(failing, { onError: (error) => errors.push(error) });
    await ring.principalOf(token);
    await Promise.resolve();
    expect(errors).to.deep.equal([failure]);
  });

  it('retries after a failed lookup', async () => {
    const { store, token, key } = await ringWithKey();
    let fails = true;
    const shaky = {
      ...store,
      find: async (id: string) => {
        if (fails) throw new Error('gone');
        return store.find(id);
      },
    };
    const ring = new KeyRing(shaky, { onError: () => {} });
    const first = await isRefused(ring.principalOf(token));
    fails = false;
    expect([first, (await ring.principalOf(token)).name]).to.deep.equal([true, `key ${key.id}`]);
  });
});
