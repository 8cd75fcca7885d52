import { expect } from 'chai';
import { Renderer } from '../src/shell/renderer.js';
import { counted, formatCount } from '../src/format/count.js';
import { argsLine, jsonTokens } from '../src/format/json-tokens.js';
import { defaultRedaction, parseExactly, redact } from '@longshore/jobs/storage';
import { formatDuration, timeText } from '../src/format/time.js';

describe('a duration', () => {
  for (const [ms, text] of [
    [-5, '0 ms'],
    [0, '0 ms'],
    [999.4, '999 ms'],
    [999.6, '999 ms'],
    [9_949, '9.9 s'],
    [9_999, '9.9 s'],
    [59_400, '59 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [61_000, '1 min 1 s'],
    [3_599_600, '59 min 59 s'],
    [3_600_000, '1 h'],
    [3_660_000, '1 h 1 min'],
    [86_399_000, '23 h 59 min'],
    [86_400_000, '1 d'],
    [93_600_000, '1 d 2 h'],
  ] as const) {
    it(`of ${ms} ms reads ${text}`, () => {
      expect(formatDuration(ms)).to.equal(text);
    });
  }
});

describe('a time', () => {
  const now = Date.parse('2026-03-01T14:05:09.123Z');
  for (const [agoMs, text] of [
    [0, 'just now'],
    [-999, 'now'],
    [1_999, '1 s ago'],
    [119_999, '1 min ago'],
    [-90_000, 'in 1 min'],
    [5_400_000, '1 h 30 min ago'],
  ] as const) {
    it(`${agoMs} ms ago reads ${text}`, () => {
      expect(timeText(new Date(now - agoMs), now).relative).to.equal(text);
    });
  }

  it('has its zone', () => {
    expect(timeText(new Date(now), now)).to.include({
      iso: '2026-03-01T14:05:09.123Z',
      exact: '2026-03-01 14:05:09.123 UTC',
    });
  });
});

describe('a count', () => {
  it('that is not exact is marked as a lower bound', () => {
    expect(formatCount({ count: 10_000, exact: false })).to.equal('10,000+');
  });

  it('agrees with its noun', () => {
    expect([counted(1, 'job'), counted(2_000, 'job'), counted(0, 'is', 'are')]).to.deep.equal([
      '1 job',
      '2,000 jobs',
      '0 are',
    ]);
  });
});

describe('a document', () => {
  const printed = (value: Parameters<typeof redact>[0], max?: number): string =>
    jsonTokens(redact(value, defaultRedaction), max)
      .tokens.map(({ text }) => text)
      .join('');

  it('is printed as JSON, indented by two spaces', () => {
    const value = { a: [1, -0.5, 1e300, 'x"\n', null, true, [], {}], '': { b: [[2]] }, __proto__x: 1 };
    expect(printed(value)).to.equal(JSON.stringify(value, null, 2));
  });

  it('is cut if it is too long', () => {
    const { tokens, cut } = jsonTokens(redact({ long: 'x'.repeat(1_000) }, defaultRedaction), 100);
    expect(cut).to.equal(true);
    expect(tokens.map(({ text }) => text).join('')).to.have.lengthOf(101);
  });

  it('keeps every digit of a number', () => {
    const text =
      '{"id": 900719925474099312345, "rate": 1.10, "small": 1e-400, "text": "1\\"900719925474099312345"}';
    const tokens = jsonTokens(redact(parseExactly(text), defaultRedaction)).tokens;
    expect(
      tokens
        .map((token) => token.text)
        .join('')
        .replaceAll(/\n\s*/g, ' '),
    ).to.equal(
      '{ "id": 900719925474099312345, "rate": 1.10, "small": 1e-400, "text": "1\\"900719925474099312345" }',
    );
  });

  it('does not show a number of many digits under a key that looks like a secret', () => {
    expect(printed(parseExactly('{"pin": 900719925474099312345}'))).not.to.include('9007');
  });

  it('fits into one line of a list, and marks inexact numbers', () => {
    const args = { order: 77, lines: [{ sku: 'A-1' }, 2], token: 'hunter2', big: 9007199254740993000 };
    expect(argsLine(args, defaultRedaction)).to.equal(
      'order: 77, lines: [{sku: "A-1"}, 2], token: redacted, big: ≈9007199254740993000',
    );
    expect(argsLine({}, defaultRedaction)).to.equal('');
    expect(argsLine({ long: 'x'.repeat(1_000) }, defaultRedaction)).to.have.lengthOf.below(170);
  });

  for (const key of [
    'password',
    'userPassword',
    'api_key',
    'API-KEY',
    'accessToken',
    'Authorization',
    'clientSecret',
    'pin',
    'card_number',
    'auth',
    'basicAuth',
    'dsn',
    'SENTRY_DSN',
    'connectionString',
    'connection_string',
    'connStr',
    'databaseUrl',
    'REDIS_URL',
  ]) {
    it(`does not show what is under ${key}, at any depth`, () => {
      expect(printed({ a: [{ [key]: { deep: 'hunter2' } }] }))
        .to.include('redacted')
        .and.not.include('hunter2');
    });
  }

  for (const [what, document] of [
    ['a name and a value', { name: 'password', value: 'hunter2' }],
    ['a name and several values', { name: 'X-Api-Key', values: ['hunter2'] }],
    ['a header and a value', { Header: 'Set-Cookie', Value: { raw: 'hunter2' } }],
    ['a key and a value, far down', { a: [{ b: [{ key: 'dbPassword', value: 'hunter2' }] }] }],
    ['pairs', { headers: [['Authorization', 'hunter2']] }],
  ] as const)
    it(`does not show the secret in an entry of ${what}`, () => {
      expect(printed(document as never))
        .to.include('redacted')
        .and.not.include('hunter2');
    });

  it('shows other entries', () => {
    const document = {
      list: [{ name: 'colour', value: 'seen' }],
      pairs: [['Accept', 'seen too']],
      pair: ['pin', 'x'],
    };
    expect(printed(document)).to.not.include('redacted');
  });

  for (const key of [
    'spinner',
    'shipping',
    'name',
    'pinned',
    'author',
    'authority',
    'connection',
    'string',
    'url',
  ]) {
    it(`shows what is under ${key}`, () => {
      expect(printed({ [key]: 'seen' })).to.include('seen');
    });
  }

  const secrets =
    'pass pwd passphrase userPIN pin_code accessKey AWSAccessKey encryption_key jwt otp cvv2 signature bearer api-key cardNumber';
  for (const key of secrets.split(' ')) {
    it(`is not shown under ${key}`, () => {
      expect(redact({ [key]: 1 }, defaultRedaction))
        .to.have.property(key)
        .that.is.a('symbol');
    });
  }

  for (const key of [
    'spin',
    'compass',
    'passenger',
    'keyboard',
    'optional',
    'opinion',
    'shipping',
    'cardId',
  ]) {
    it(`is shown under ${key}`, () => {
      expect(redact({ [key]: 1 }, defaultRedaction)).to.have.property(key, 1);
    });
  }

  it('is redacted consistently by a global pattern', () => {
    expect(redact([{ key: 1 }, { key: 2 }], /key/g)).to.deep.equal(redact([{ key: 1 }, { key: 2 }], /key/));
  });

  it('does not mistake its own text for a redaction', () => {
    expect(jsonTokens(redact(['redacted'], defaultRedaction)).tokens.map(({ kind }) => kind)).not.to.include(
      'redacted',
    );
  });
});

describe('A long name', () => {
  const shown = (text: string): string => new Renderer().render('long-name', { text }).trim();

  it('is cut in the middle, and its parts are the whole', () => {
    const name = `${'a'.repeat(30)}😀${'b'.repeat(30)}`;
    const middle = `${'a'.repeat(8)}😀${'b'.repeat(18)}`;
    expect(shown(name)).to.equal(
      `${'a'.repeat(22)}<span class="cut" title="${name}">${middle}</span>${'b'.repeat(12)}`,
    );
    expect(shown('short')).to.equal('short');
  });
});
