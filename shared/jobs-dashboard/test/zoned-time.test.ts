import { expect } from 'chai';
import { detailOf, timeIn, zoneNameAt } from '../src/format/time.js';

const now = new Date('2026-03-01T12:00:00Z');

describe('times of a list in a zone', () => {
  const format = (...texts: string[]): string[] => {
    const times = texts.map((text) => new Date(text));
    const detail = detailOf(times, now);
    // Removes commas, because their positions depend on the locale data.
    return times.map((at) => timeIn('Europe/Berlin', at, detail).replaceAll(',', ''));
  };

  it('are shown to the minute', () => {
    expect(format('2026-03-02T01:30:00Z')).to.deep.equal(['Mon 2 Mar 02:30']);
  });

  it('all have seconds as soon as one of them has', () => {
    expect(format('2026-03-02T01:30:00Z', '2026-03-02T01:30:10Z')).to.deep.equal([
      'Mon 2 Mar 02:30:00',
      'Mon 2 Mar 02:30:10',
    ]);
  });

  it('all have their year as soon as one is in another year', () => {
    expect(format('2026-12-01T00:00:00Z', '2027-12-01T00:00:00Z')).to.deep.equal([
      'Tue 1 Dec 2026 01:00',
      'Wed 1 Dec 2027 01:00',
    ]);
  });

  it('have the zone’s name at that time', () => {
    const summer = new Date('2026-07-01T00:00:00Z');
    expect([now, summer].map((at) => zoneNameAt('America/New_York', at))).to.deep.equal(['GMT-5', 'GMT-4']);
  });
});
