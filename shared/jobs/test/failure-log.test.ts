import terminal from 'node:console';
import { patientServer } from '@longshore/test-support';
import { expect } from 'chai';
import {
  defineJob,
  handleJob,
  JobClient,
  JobServer,
  type Logger,
  MemoryStorage,
  silentLogger,
} from '../src/index.js';
import { consoleLogger } from '../src/server/logger.js';
import { jobInState } from './support/serving.js';

interface Line {
  readonly level: 'warn' | 'error';
  readonly message: string;
  readonly fields: object;
}

describe('A server without further options', () => {
  let storage: MemoryStorage;
  let client: JobClient;

  beforeEach(() => {
    storage = new MemoryStorage();
    client = new JobClient(storage);
  });

  it('consumes the queues of its handlers', async () => {
    const mail = defineJob({ name: 'mail', queue: 'mails' });
    const server = new JobServer({ storage, handlers: [handleJob(mail, () => 'sent')], ...patientServer });
    await server.start();
    const { id } = await client.enqueue(mail);
    expect((await jobInState(storage, id, 'done')).result).to.equal('sent');
    await server.stop();
  });

  it('logs a warning for each attempt that will be retried, and an error for the last', async () => {
    const lines: Line[] = [];
    const log = (level: Line['level']) => (fields: object, message: string) => {
      lines.push({ level, message, fields });
    };
    const logger: Logger = { ...silentLogger, warn: log('warn'), error: log('error') };
    const flaky = defineJob({ name: 'flaky', maxAttempts: 2, retryDelay: [0] });
    const fail = (): never => {
      throw new TypeError('no luck');
    };
    const server = new JobServer({ storage, handlers: [handleJob(flaky, fail)], logger, ...patientServer });
    await server.start();
    const { id } = await client.enqueue(flaky);
    await jobInState(storage, id, 'failed');
    await server.stop();
    expect(lines.map(({ level, message }) => `${level}: ${message}`)).to.deep.equal([
      'warn: job flaky failed and will be retried',
      'error: job flaky failed for good',
    ]);
    expect(lines[0]?.fields).to.deep.include({
      job: { id, name: 'flaky', queue: 'default', attempt: 1, maxAttempts: 2 },
    });
    expect(lines[1]?.fields).to.have.nested.property('err.message', 'no luck');
    expect(lines[1]?.fields).to.have.nested.property('err.stack').that.includes('failure-log.test');
  });

  it('logs to the console', () => {
    const printed: unknown[][] = [];
    const original = Object.getOwnPropertyDescriptor(terminal, 'error');
    terminal.error = (...line: unknown[]) => printed.push(line);
    try {
      consoleLogger.error({ err: { name: 'TypeError', message: 'no luck', stack: 'the stack' } }, 'failed');
    } finally {
      if (original !== undefined) Object.defineProperty(terminal, 'error', original);
    }
    expect(printed[0]?.[0]).to.equal('failed');
    expect(printed[0]?.[1]).to.have.nested.property('err.stack', 'the stack');
  });
});
