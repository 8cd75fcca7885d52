import { type DocumentedOption, documentedOptions } from '@longshore/test-support';
import { expect } from 'chai';
import { defineJob, handleJob, JobServer, type JobServerOptions, MemoryStorage } from '../src/index.js';
import { resolveServerOptions } from '../src/server/server-options.js';

describe('A job server', () => {
  const handler = handleJob(defineJob({ name: 'work' }), () => null);
  const create = (options: Partial<JobServerOptions>) => () =>
    new JobServer({ storage: new MemoryStorage(), handlers: [handler], ...options });

  const refused: [string, Partial<JobServerOptions>, string][] = [
    ['no queue at all', { queues: [] }, 'at least one queue'],
    ['a queue with a bad name', { queues: ['a b'] }, 'is not a valid name for a queue'],
    ['no concurrency', { concurrency: 0 }, 'concurrency must be an integer from 1 to 1000, not 0'],
    ['too short a timeout', { serverTimeoutMs: 100 }, 'serverTimeoutMs must be an integer from 5000'],
    ['too long a poll interval', { queuePollIntervalMs: 60_001 }, 'queuePollIntervalMs'],
    [
      'two handlers of one name',
      { handlers: [handler, handler] },
      'There are two handlers for the job "work"',
    ],
    [
      'a handler whose alias is the name of another',
      { handlers: [handler, handleJob(defineJob({ name: 'other', aliases: ['work'] }), () => null)] },
      'There are two handlers for the job "work", counting aliases',
    ],
  ];
  for (const [what, options, message] of refused) {
    it(`rejects ${what}`, () => {
      expect(create(options)).to.throw(RangeError, message);
    });
  }

  describe('with the options documented in docs/operations.md', () => {
    let options: DocumentedOption[];
    const resolved = (name?: string, value?: number): Record<string, unknown> => ({
      ...resolveServerOptions({
        storage: new MemoryStorage(),
        handlers: [handler],
        ...(name !== undefined && { [name]: value }),
      }),
    });

    before(async () => {
      options = await documentedOptions('Of the server, `new JobServer({ … })`');
    });

    it('has every numeric option', () => {
      const numbers = Object.entries(resolved()).filter(([, value]) => typeof value === 'number');
      expect(options.map(({ name }) => name)).to.have.members(numbers.map(([name]) => name));
    });

    it('has the documented defaults', () => {
      const usual = resolved();
      for (const option of options)
        if (option.default !== null) expect(usual[option.name], option.name).to.equal(option.default);
    });

    it('accepts the ends of the documented ranges and rejects values beyond', () => {
      for (const { name, least, most } of options) {
        for (const value of [least, most]) expect(resolved(name, value)[name]).to.equal(value);
        for (const value of [least - 1, most + 1])
          expect(() => resolved(name, value)).to.throw(RangeError, `${name} must be an integer from`);
      }
    });
  });
});
