import { STATUS_CODES } from 'node:http';
import { expect } from 'chai';
import { ApiError, errorCatalogue, ProblemList } from '@longshore/resources';

describe('An error', () => {
  it('has codes of its own status only', () => {
    const missing = { code: 40402, internalMessage: 'missing' } as const;
    const invalid = { code: 42202, internalMessage: 'invalid' } as const;
    expect(() => new ApiError([missing, invalid])).to.throw(TypeError);
  });

  it('has the problems of the status that is checked first, and counts only those', () => {
    const problems = new ProblemList();
    problems.addAll([
      { code: 42202, internalMessage: 'invalid' },
      { code: 40402, internalMessage: 'missing' },
      { code: 40902, internalMessage: 'illegal' },
      { code: 40402, internalMessage: 'missing, too' },
    ]);
    try {
      problems.throwIfAny();
      expect.fail('nothing was thrown');
    } catch (error) {
      expect(error).to.include({ status: 404, count: 2, message: 'missing; missing, too' });
    }
  });
});

describe('The catalogue of errors', () => {
  it('has codes of HTTP statuses only', () => {
    for (const code of Object.keys(errorCatalogue)) {
      expect(STATUS_CODES, code).to.have.property(code.slice(0, 3));
      expect(code).to.match(/^[45]\d{4}$/);
    }
  });
});
