import { expect } from 'chai';
import { ConfigError, readQueues } from '../src/index.js';

describe('WORKER_QUEUES', () => {
  it('is a strict order if no queue has a weight', () => {
    expect(readQueues('critical, default')).to.deep.equal(['critical', 'default']);
  });

  it('is a map of weights if every queue has one', () => {
    expect(readQueues('critical=6,default=3')).to.deep.equal({ critical: 6, default: 3 });
  });

  it('is empty if it is not set', () => {
    expect(readQueues('')).to.equal(null);
  });

  it('is rejected if it names no queue', () => {
    expect(() => readQueues(' ,')).to.throw(ConfigError, 'WORKER_QUEUES has no entry');
  });

  it('is rejected if only some queues have a weight', () => {
    expect(() => readQueues('critical=6,default')).to.throw(ConfigError, 'every queue a weight');
  });
});
