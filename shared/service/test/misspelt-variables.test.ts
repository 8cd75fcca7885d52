import { expect } from 'chai';
import { misspeltVariables } from '../src/index.js';

const known = ['DATABASE_URL', 'DATABASE_POOL_SIZE', 'WORKER_CONCURRENCY', 'PORT', 'LOG_LEVEL'];

describe('An environment variable', () => {
  it('that is misspelt is reported with the closest known name', () => {
    expect(misspeltVariables({ WORKER_CONCURENCY: '5', DATABASE_POOLSIZE: '3' }, known)).to.deep.equal([
      'WORKER_CONCURENCY has no effect: there is no such variable. Did you mean WORKER_CONCURRENCY?',
      'DATABASE_POOLSIZE has no effect: there is no such variable. Did you mean DATABASE_POOL_SIZE?',
    ]);
  });

  it('with the prefix LONGSHORE_ is always known or warned about', () => {
    expect(misspeltVariables({ LONGSHORE_APP: 'x', LONGSHORE_COLOUR: 'red' }, known)).to.deep.equal([
      'LONGSHORE_COLOUR has no effect: the known names are LONGSHORE_APP, LONGSHORE_KEY, LONGSHORE_KEY_FILE, LONGSHORE_START, LONGSHORE_TEST_JOB, LONGSHORE_URL',
    ]);
  });

  it('of another program causes no warning', () => {
    const others = {
      DATABASE_HOST: 'db',
      PATH: '/bin',
      LOG_COLOURS: '1',
      WORKER_ZONE: 'eu',
      HTTP_PROXY: 'x',
    };
    expect(misspeltVariables(others, known)).to.deep.equal([]);
  });
});
