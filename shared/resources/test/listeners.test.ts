import { once } from 'node:events';
import { expect } from 'chai';
import Type from 'typebox';
import { apiError, defineResource, type Principal, unauthorized } from '@longshore/resources';
import { eventually, type EventStreamClient, listenToEvents } from '@longshore/test-support';
import { serve, type TestApi } from './support/api.js';

/** A stream that sends one event, then nothing until the caller disconnects. */
const happenings = defineResource({
  name: 'happenings',
  item: Type.Object({ id: Type.String() }),
  storage: {
    stream: async (_query, _context, signal) => ({
      events: (async function* () {
        yield { id: '1', data: { id: 'first' } };
        if (!signal.aborted) await once(signal, 'abort');
      })(),
    }),
  },
});

describe('A listener with credentials', () => {
  const reader: Principal = { name: 'reader', scopes: ['read'] };
  let authenticate: () => Principal;
  let onCredentialCheck: (listener: string | undefined) => void = () => {};
  let api: TestApi;
  let stream: EventStreamClient;
  before(async () => {
    api = await serve({
      resources: [happenings],
      recheckMs: 5,
      rowScopes: { happenings: { field: 'id' } },
      authenticate: ({ headers }) => {
        onCredentialCheck(headers['x-listener']);
        return authenticate();
      },
    });
  });
  beforeEach(async () => {
    authenticate = () => reader;
    stream = await listenToEvents(`${api.url}/api/v1/happenings`);
  });
  afterEach(() => stream.close());
  after(() => api.close());

  const untilOver = async (): Promise<string> => {
    for await (const _ of stream.events);
    return 'over';
  };
  const untilAsked = (times: number): Promise<void> =>
    new Promise((resolve) => {
      let left = times;
      onCredentialCheck = () => {
        left -= 1;
        if (left === 0) resolve();
      };
    });

  const losses: Readonly<Record<string, () => Principal>> = {
    'are revoked': () => {
      throw unauthorized('revoked');
    },
    'lose the scope': () => ({ name: 'reader', scopes: ['write'] }),
    'get another row scope': () => ({ ...reader, rowScope: ['a'] }),
  };
  for (const [what, become] of Object.entries(losses)) {
    it(`is disconnected if they ${what}`, async () => {
      authenticate = become;
      expect(await untilOver()).to.equal('over');
    });
  }

  it('stays connected while authentication is unavailable', async () => {
    authenticate = () => {
      throw apiError(50302, 'away');
    };
    const ended = untilOver();
    expect(await Promise.race([untilAsked(3), ended])).to.equal(undefined);
  });

  it('is no longer checked after it has disconnected', async () => {
    const url = `${api.url}/api/v1/happenings`;
    const gone = await listenToEvents(url, { 'x-listener': 'gone' });
    const other = await listenToEvents(url, { 'x-listener': 'other' });
    gone.close();
    /**
     * Waits until the credentials of `other` have been checked five times. Resolves to all listeners checked by then.
     */
    const checkedListeners = (): Promise<Set<string | undefined>> =>
      new Promise((resolve) => {
        const seen: (string | undefined)[] = [];
        onCredentialCheck = (listener) => {
          seen.push(listener);
          if (seen.filter((one) => one === 'other').length === 5) resolve(new Set(seen));
        };
      });
    await eventually(async () => !(await checkedListeners()).has('gone'));
    other.close();
  });
});
