import { decodePairs, decodePercent, parseInteger, parseNumber, parseUuid, UrlError } from '@longshore/edge';
import { expect } from 'chai';

describe('A part of a URL', () => {
  for (const text of ['%zz', '%00', 'a%00b', '%ff', '%ed%a0%80', '%', '%c3%28'])
    it(`cannot be ${text}`, () => expect(() => decodePercent(text, 'It')).to.throw(UrlError, 'It must'));

  it('is decoded once', () => expect(decodePercent('%2541%C3%A4', 'It')).to.equal('%41ä'));

  it('names the parameter that cannot be read', () =>
    expect(() => decodePairs('a=1&name=%00')).to.throw(UrlError, 'name must not contain NUL'));

  it('keeps empty and repeated parameters', () =>
    expect(decodePairs('a=1+2&a=&b&&c=x=y')).to.deep.equal([
      ['a', '1 2'],
      ['a', ''],
      ['b', ''],
      ['c', 'x=y'],
    ]));
});

describe('A number', () => {
  for (const text of ['007', '1e1', '0x1', '+1', '.5', '5.', '١', 'NaN', '9007199254740993', '', ' 1'])
    it(`cannot be ${JSON.stringify(text)}`, () => expect(parseNumber(text)).to.equal(undefined));

  it('is decimal', () =>
    expect([parseNumber('-1.50'), parseInteger('-0'), parseInteger('12')]).to.deep.equal([
      -1.5,
      undefined,
      12,
    ]));
});

describe('A UUID', () => {
  it('is lower case, whatever it was', () =>
    expect(parseUuid('01A20472-5ED1-7102-9962-BF1F1A0FA733')).to.equal(
      '01a20472-5ed1-7102-9962-bf1f1a0fa733',
    ));

  for (const text of [
    '',
    'search',
    '01a204725ed171029962bf1f1a0fa733',
    '{01a20472-5ed1-7102-9962-bf1f1a0fa733}',
    '01a20472-5ed1-7102-9962-bf1f1a0fa73\u212a',
  ])
    it(`is not ${JSON.stringify(text)}`, () => expect(parseUuid(text)).to.equal(undefined));
});
