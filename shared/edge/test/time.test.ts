import { canonicalTime, completeTime, isDay, parseTime, parseTypedTime } from '@longshore/edge';
import { expect } from 'chai';

const impossible = [
  '2026-02-30T00:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-04-31T12:00:00+02:00',
  '2026-13-01T00:00:00Z',
  '2026-00-10T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T23:60:00Z',
  '2016-12-31T23:59:60Z',
  '2026-01-01T00:00:00+14:01',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+01:00',
  '9999-12-31T23:59:59-00:01',
  '+02026-01-01T00:00:00Z',
];

describe('parseTime', () => {
  for (const text of [
    ...impossible,
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01',
    '1767225600',
  ])
    it(`rejects ${text}`, () => expect(parseTime(text)).to.equal(undefined));

  for (const [text, iso] of [
    ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
    ['2026-01-31T09:00:00+01:30', '2026-01-31T07:30:00.000Z'],
    ['2026-01-31t09:00:00.123456789z', '2026-01-31T09:00:00.123Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ] as const)
    it(`reads ${text} as ${iso}`, () => expect(parseTime(text)?.toISOString()).to.equal(iso));
});

describe('parseTypedTime', () => {
  for (const text of [...impossible, '2026-02-30', '2026-02-30 10:00', 'yesterday', '2026-1-1', '10:00', ''])
    it(`rejects ${JSON.stringify(text)}`, () => expect(parseTypedTime(text)).to.equal(undefined));

  for (const [text, iso] of [
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T14:05', '2026-03-01T14:05:00.000Z'],
    ['2026-03-01 14:05:30.5', '2026-03-01T14:05:30.500Z'],
    ['2026-03-01 14:05+02:00', '2026-03-01T12:05:00.000Z'],
  ] as const)
    it(`reads ${text} as ${iso}`, () => expect(parseTypedTime(text)?.toISOString()).to.equal(iso));
});

describe('canonicalTime', () => {
  const same = [
    '2026-01-31T09:00:00.5Z',
    '2026-01-31T09:00:00.500000000Z',
    '2026-01-31T10:00:00.500+01:00',
    '2026-01-30t19:30:00.50-13:30',
  ];
  for (const text of same)
    it(`is the same for ${text}`, () => expect(canonicalTime(text)).to.equal('2026-01-31T09:00:00.5Z'));

  it('distinguishes nanoseconds', () =>
    expect(canonicalTime('2026-01-31T09:00:00.000000001Z')).to.equal('2026-01-31T09:00:00.000000001Z'));

  it('leaves out the decimals of a whole second', () =>
    expect(canonicalTime('2026-01-31T09:00:00.000Z')).to.equal('2026-01-31T09:00:00Z'));
});

describe('completeTime', () => {
  it('turns a day into its start, and restores the sign of an offset', () => {
    expect(completeTime('2026-02-28')).to.equal('2026-02-28T00:00:00Z');
    expect(completeTime('2026-02-28T10:00:00 02:00')).to.equal('2026-02-28T10:00:00+02:00');
    expect(completeTime('whenever')).to.equal('whenever');
  });
});

describe('isDay', () => {
  it('knows the calendar', () =>
    expect(['2024-02-29', '2026-02-29', '2026-02-30', '0000-01-01'].map(isDay)).to.deep.equal([
      true,
      false,
      false,
      false,
    ]));
});
