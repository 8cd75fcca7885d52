import { expect } from 'chai';
import { momentOf, typedText, withOffset, zoneIn } from '../src/search/moment.js';

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

  for (const [text, iso] of [
    ['2026-03-01', '2026-02-28T23:00:00.000Z'],
    ['2026-07-01T14:05', '2026-07-01T12:05:00.000Z'],
    ['2026-07-01 14:05Z', '2026-07-01T14:05:00.000Z'],
    ['2026-03-29T02:30', '2026-03-29T01:00:00.000Z'], // skipped: the clock goes from 02:00 to 03:00
    ['2026-10-25T02:30', '2026-10-25T00:30:00.000Z'], // shown twice
  ] as const) {
    it(`is in the viewer’s zone as ${text}`, () => {
      expect(momentOf(text, nowMs, 'Europe/Berlin')?.toISOString()).to.equal(iso);
      expect(momentOf(withOffset(text, 'Europe/Berlin'), nowMs)?.toISOString()).to.equal(iso);
    });
  }

  it('is shown as it was entered', () => {
    for (const zone of ['UTC', 'Asia/Kolkata', 'America/New_York'])
      expect(typedText(momentOf('2026-07-01T14:05', 0, zone)?.getTime() ?? 0, zone)).to.equal(
        '2026-07-01T14:05',
      );
    expect(withOffset('2026-07-01', 'America/New_York')).to.equal('2026-07-01T00:00-04:00');
  });

  it('is rejected with a time zone that is unknown', () => {
    expect(zoneIn(new URLSearchParams('zone=Asia/Tokyo'))).to.equal('Asia/Tokyo');
    expect(() => zoneIn(new URLSearchParams('zone=Mars/Olympus'))).to.throw('Unknown time zone');
  });

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
