import { expect } from 'chai';
import { refusals } from '../src/refusals.js';

describe('What a constructor refuses of its options', () => {
  const variables = { size: 'POOL_SIZE', logo: 'LOGO', mode: 'MODE' };
  const create = ({ size = 1, logo = '', mode = '' }): void => {
    if (size < 1) throw new RangeError('size must be at least 1');
    if (logo !== '' && mode === 'text') throw new TypeError('There is no logo in text.');
    if (logo === 'none') throw new TypeError('The logo cannot be read');
    if (mode === 'bug') throw new Error('a bug');
  };

  it('is nothing if it accepts them', () => {
    expect(refusals({ size: 1, logo: 'a', mode: 'html' }, variables, create)).to.deep.equal([]);
  });

  it('is each option that it refuses by itself, by the name of its variable', () => {
    expect(refusals({ size: 0, logo: 'none' }, variables, create)).to.deep.equal([
      'POOL_SIZE must be at least 1',
      'LOGO: The logo cannot be read',
    ]);
  });

  it('is what it refuses of the others together, besides', () => {
    expect(refusals({ size: 0, logo: 'a', mode: 'text' }, variables, create)).to.deep.equal([
      'POOL_SIZE must be at least 1',
      'There is no logo in text',
    ]);
  });

  it('does not include other errors, which are thrown', () => {
    expect(() => refusals({ mode: 'bug' }, variables, create)).to.throw('a bug');
  });
});
