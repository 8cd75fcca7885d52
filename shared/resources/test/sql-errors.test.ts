import { expect } from 'chai';
import { classifySqlError } from '../src/database/sql-errors.js';

const codeFor = (sqlState: string, writes: boolean): number | undefined =>
  classifySqlError(Object.assign(new Error('x'), { code: sqlState, severity: 'ERROR' }), writes)?.problems[0]
    .code;

describe('An error of the database', () => {
  it('makes the service unavailable if its class says that the server or the session is the cause', () => {
    const states =
      '08000 08006 08P01 25006 25P03 25P04 28000 28P01 3D000 3F000 40001 40P01 42P01 53000 53100 53200 53300 53400 55P03 57000 57P01 57P02 57P03 57P04 57P05 58000 58030 58P01 58P02 58P03 72000 F0000 F0001';
    for (const state of states.split(' '))
      expect([state, codeFor(state, true), codeFor(state, false)]).to.deep.equal([state, 50301, 50301]);
  });

  it('is the fault of the request if its class says that a value is the cause', () => {
    for (const state of ['22001', '22P02'])
      expect([codeFor(state, true), codeFor(state, false)]).to.deep.equal([42202, 40003]);
  });

  it('is unexpected if it points to a mistake in the program', () => {
    for (const state of ['0A000', '25001', '42601', '42501', '42703', '42883', '55000', 'XX000', '99999'])
      expect([state, codeFor(state, true)]).to.deep.equal([state, undefined]);
  });
});
