import { expect } from 'chai';
import { StorageUnavailableError } from '../src/index.js';
import type { Logger } from '../src/server/logger.js';
import { outageOf, StorageOutage, withOutageOf } from '../src/server/storage-outage.js';

describe('An outage of the storage', () => {
  const users = Array.from({ length: 8 }, () => ({}));
  const refused = new StorageUnavailableError('Postgres cannot be reached', {
    cause: new Error('connection refused'),
  });
  let now: number;
  let lines: [message: string, fields: object][];
  let logger: Logger;
  let outage: StorageOutage;

  beforeEach(() => {
    now = 1_000;
    lines = [];
    const write = (fields: object, message: string): void => void lines.push([message, fields]);
    logger = { debug: write, info: write, warn: write, error: write };
    outage = new StorageOutage(logger, () => now);
  });

  const messages = (): string[] => lines.map(([message]) => message);

  it('is logged once, with its start and reason, however many attempts fail', () => {
    for (let attempt = 0; attempt < 100; attempt++)
      for (const user of users) expect(outage.failed(user, refused)).to.equal(true);
    expect(lines).to.deep.equal([
      [
        'the storage is unavailable; trying again until it is back',
        { since: new Date(1_000), reason: 'Postgres cannot be reached: connection refused' },
      ],
    ]);
  });

  it('is logged again once a minute', () => {
    for (const at of [1_000, 60_999, 61_000, 61_001, 120_999, 121_000]) {
      now = at;
      for (const user of users) outage.failed(user, refused);
    }
    const still = 'the storage is still unavailable';
    expect(messages().slice(1)).to.deep.equal([still, still]);
  });

  it('ends when everyone that it affected has succeeded or given up', () => {
    for (const user of users) outage.failed(user, refused);
    const [last, ...others] = users;
    for (const user of others) outage.succeeded(user);
    expect(lines).to.have.length(1);
    now = 31_000;
    outage.succeeded(last ?? {});
    expect(lines[1]).to.deep.equal([
      'the storage is available again',
      { since: new Date(1_000), forMs: 30_000 },
    ]);
  });

  it('that affects only what is not tried again ends when anyone succeeds', () => {
    outage.failed(null, refused);
    outage.failed(null, refused);
    outage.succeeded({});
    outage.succeeded({});
    outage.failed(null, refused);
    const [begun, ended] = [
      'the storage is unavailable; trying again until it is back',
      'the storage is available again',
    ];
    expect(messages()).to.deep.equal([begun, ended, begun]);
  });

  it('leaves other errors to be logged by others', () => {
    expect(outage.failed({}, new Error('a mistake'))).to.equal(false);
    expect(lines).to.deep.equal([]);
  });

  it('is shared by everyone with the same logger, also if it is wrapped', () => {
    const wrapper = withOutageOf(logger, { ...logger });
    outageOf(logger).failed({}, refused);
    outageOf(wrapper).failed({}, refused);
    expect(lines).to.have.length(1);
  });
});
