import { expect } from 'chai';
import { defineJob, handleJob, JobClient, type Logger, MemoryStorage } from '../src/index.js';
import { jobInState, whileServing } from './support/serving.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

/** Returns what a server logs of a job whose handler logs two lines and fails. */
async function logged(logHandlerLines: boolean) {
  const storage = new MemoryStorage();
  const lines: [level: string, fields: object, message: string][] = [];
  const write =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push([level, fields, message]);
  const logger: Logger = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
  const talkative = defineJob({ name: 'talkative', queue: 'work', maxAttempts: 1 });
  const handler = handleJob(talkative, ({ log }) => {
    log.info('charging', { order: 7 });
    log.warn('odd');
    throw new Error('declined');
  });
  let id = '';
  await whileServing(
    storage,
    'work',
    [handler],
    async () => {
      ({ id } = await new JobClient(storage).enqueue(talkative, {}, { traceparent }));
      await jobInState(storage, id, 'failed');
    },
    { logger, logHandlerLines, maxLogLines: 2 },
  );
  const job = { id, name: 'talkative', queue: 'work', attempt: 1, maxAttempts: 1 };
  return { job, lines: lines.filter(([, fields]) => 'job' in fields) };
}

describe('The log lines of handlers', () => {
  it('also go to the logger if the server says so, with the job and its trace', async () => {
    const { job, lines } = await logged(true);
    expect(lines.slice(0, 2)).to.deep.equal([
      ['info', { job, traceId, fields: { order: 7 } }, 'charging'],
      ['warn', { job, traceId }, 'odd'],
    ]);
  });

  it('do not go to the logger by default; the failure of the job does, with its trace', async () => {
    const { job, lines } = await logged(false);
    expect(lines).to.have.length(1);
    expect(lines[0]?.[1]).to.deep.include({ job, traceId });
  });
});
