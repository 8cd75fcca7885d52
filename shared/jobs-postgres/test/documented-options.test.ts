import { retentionOf } from '@longshore/jobs/storage';
import { documentedOptions } from '@longshore/test-support';
import { expect } from 'chai';
import {
  databaseOptions,
  maxQueues,
  readOptions,
  replicaPolicy,
  searchOptions,
} from '../src/connection/options.js';

const url = 'postgres://127.0.0.1:1/none';

describe('The options of the Postgres storage in docs/operations.md', () => {
  /**
   * Maps an option's name to a function that returns the value in effect. The function receives the option's value, or
   * `undefined` if the option is omitted.
   */
  const resolved: Record<string, (value?: number) => number> = {
    commandBatchMaxTimeoutMs: (value) =>
      databaseOptions(withValue('commandBatchMaxTimeoutMs', value)).statementTimeoutMs,
    transactionIdleTimeoutMs: (value) =>
      databaseOptions(withValue('transactionIdleTimeoutMs', value)).transactionIdleTimeoutMs,
    connectTimeoutMs: (value) => databaseOptions(withValue('connectTimeoutMs', value)).connectTimeoutMs,
    silenceTimeoutMs: (value) => databaseOptions(withValue('silenceTimeoutMs', value)).silenceTimeoutMs,
    poolSize: (value) => databaseOptions(withValue('poolSize', value)).poolSize,
    readPoolSize: (value) => readOptions(withValue('readPoolSize', value)).poolSize,
    readTimeoutMs: (value) => readOptions(withValue('readTimeoutMs', value)).statementTimeoutMs,
    maxQueues: (value) => maxQueues(withValue('maxQueues', value)),
    searchTimeoutMs: (value) => searchOptions(withValue('searchTimeoutMs', value)).statementTimeoutMs,
    searchMaxLagMs: (value) => replicaPolicy(withValue('searchMaxLagMs', value)).maxLagMs,
    'retentionDays.done': (value) => retentionOf(value === undefined ? {} : { done: value }).done,
    'retentionDays.failed': (value) => retentionOf(value === undefined ? {} : { failed: value }).failed,
    'retentionDays.cancelled': (value) =>
      retentionOf(value === undefined ? {} : { cancelled: value }).cancelled,
  };
  const withValue = (name: string, value?: number): { url: string } => ({
    url,
    ...(value !== undefined && { [name]: value }),
  });

  it('have the documented defaults and ranges', async () => {
    const options = await documentedOptions('Of the storage, `new PostgresStorage({ … })`');
    expect(options.map(({ name }) => name)).to.have.members(Object.keys(resolved));
    for (const { name, default: usual, least, most } of options) {
      const resolve = resolved[name] ?? expect.fail(name);
      expect([resolve(), resolve(least), resolve(most)], name).to.deep.equal([usual, least, most]);
      for (const value of [least - 1, most + 1])
        expect(() => resolve(value)).to.throw(RangeError, `${name} must be an integer from`);
    }
  });

  it('are READ COMMITTED and no global locks by default', () => {
    expect(databaseOptions({ url })).to.include({
      useRecommendedIsolationLevel: true,
      disableGlobalLocks: true,
      pooler: 'none',
      schema: 'longshore',
      applicationName: 'longshore',
    });
  });
});
