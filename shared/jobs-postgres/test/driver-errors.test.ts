import { StorageUnavailableError } from '@longshore/jobs';
import { expect } from 'chai';
import { fromDriver, isOfData, translate } from '../src/connection/errors.js';

async function reported(thrown: Error): Promise<Error> {
  await fromDriver(Promise.reject(thrown)).catch(() => undefined);
  return thrown;
}

describe('An error in a transaction of the storage', () => {
  it('counts as caused by the data if stored JSON cannot be parsed', () => {
    const error = new SyntaxError('Unterminated string in JSON at position 7');
    expect(isOfData(error)).to.equal(true);
    expect(translate(error)).to.equal(error);
  });

  for (const code of ['EPIPE', 'ECONNRESET'])
    it(`means that Postgres cannot be reached if the driver reports ${code}`, async () => {
      const error = await reported(Object.assign(new Error('write'), { code }));
      expect(isOfData(error)).to.equal(false);
      expect(translate(error)).to.be.instanceOf(StorageUnavailableError);
    });
});
