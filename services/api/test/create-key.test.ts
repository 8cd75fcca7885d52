import { ConfigError } from '@longshore/service';
import { expect } from 'chai';
import { pino } from 'pino';
import { readApiConfig } from '../src/config.js';
import { createKey } from '../src/commands.js';

const config = readApiConfig({ API_STORAGE: 'memory', LOG_LEVEL: 'silent' });

describe('The command create-key', () => {
  const failureOf = (args: readonly string[]): Promise<unknown> =>
    createKey(config, args, pino({ level: 'silent' })).catch((error: unknown) => error);
  const valid = { '--name': 'shop', '--scopes': 'read' };

  for (const [options, message] of [
    [{ '--queues': '' }, '--queues must not be empty'],
    [{ '--queues': ' , ' }, '--queues has no entry'],
    [{ '--queues': 'two words' }, '--queues[0] must match pattern'],
    [{ '--queues': 'mail,mail' }, '--queues must not contain an item twice'],
    [{ '--scopes': '' }, '--scopes must not be empty'],
    [{ '--scopes': 'reed' }, '--scopes[0] must be one of ["read","write","operate","admin"]'],
    [{ '--name': '' }, '--name must not be empty'],
    [{ '--name': 'x'.repeat(101) }, '--name must have at most 100 characters'],
    [{ '--expires': '' }, '--expires must be'],
    [{ '--expires': '2027-02-30' }, '--expires must be'],
    [{ '--name': '', '--queues': '' }, '--name must not be empty; --queues must not be empty'],
  ] as const)
    it(`makes no key with ${JSON.stringify(options)}, as the API does not`, async () => {
      const error = await failureOf(Object.entries({ ...valid, ...options }).flat());
      expect(error).to.be.instanceOf(ConfigError);
      expect(String(error)).to.contain(message).and.to.contain('Usage: create-key');
    });

  it('accepts what the API accepts', async () => {
    const options = { ...valid, '--queues': 'mail, reports', '--expires': '2127-01-31' };
    // The key would be lost with the process; everything else was accepted.
    expect(String(await failureOf(Object.entries(options).flat()))).to.contain('Keys in memory are lost');
  });
});
