import { expect } from 'chai';
import { defineJob, handleJob, JobServer, type JobServerOptions, MemoryStorage } from '../src/index.js';

describe('A job server', () => {
  const handler = handleJob(defineJob({ name: 'work' }), () => null);
  const create = (options: Partial<JobServerOptions>) => () =>
    new JobServer({ storage: new MemoryStorage(), handlers: [handler], ...options });

  const refused: [string, Partial<JobServerOptions>, string][] = [
    ['no queue at all', { queues: [] }, 'at least one queue'],
    ['a queue with a bad name', { queues: ['a b'] }, 'cannot name a queue'],
    ['no concurrency', { concurrency: 0 }, 'concurrency is an integer from 1 to 1000, not 0'],
    ['too short a timeout', { serverTimeoutMs: 100 }, 'serverTimeoutMs is an integer from 5000'],
    ['too long a poll interval', { queuePollIntervalMs: 60_001 }, 'queuePollIntervalMs'],
    ['two handlers of one name', { handlers: [handler, handler] }, 'Two handlers for the job "work"'],
  ];
  for (const [what, options, message] of refused) {
    it(`cannot be made with ${what}`, () => {
      expect(create(options)).to.throw(RangeError, message);
    });
  }
});
