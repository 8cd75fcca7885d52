import { expect } from 'chai';
import { momentOf } from '../src/search/moment.js';

const nowMs = Date.parse('2026-03-01T12:00:07Z');

describe('a time entered by a user', () => {
  for (const [text, iso] of [
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T14:05', '2026-03-01T14:05:00.000Z'],
    ['2026-03-01 14:05:09.5', '2026-03-01T14:05:09.500Z'],
    ['2026-03-01T14:05+02:00', '2026-03-01T12:05:00.000Z'],
    ['90s', '2026-03-01T11:58:30.000Z'],
    ['15min', '2026-03-01T11:45:00.000Z'],
    ['2h', '2026-03-01T10:00:00.000Z'],
    ['7D', '2026-02-22T12:00:00.000Z'],
  ] as const) {
    it(`is understood as ${text}`, () => {
      expect(momentOf(text, nowMs)?.toISOString()).to.equal(iso);
    });
  }

  for (const text of [
    '',
    'now',
    '2026-13-01',
    '2026-03-01T25:00',
    '01.03.2026',
    '5 parsecs',
    '-2h',
    '1constructor',
    '999999w',
  ]) {
    it(`is rejected as ${JSON.stringify(text)}`, () => {
      expect(momentOf(text, nowMs)).to.equal(null);
    });
  }
});
