import { expect } from 'chai';
import { cronWords } from '../src/pages/recurring.js';

describe('a cron expression in words', () => {
  for (const [cron, words] of [
    ['* * * * *', 'every minute'],
    ['*/1 * * * *', 'every minute'],
    ['*/15 * * * *', 'every 15 min'],
    ['5 * * * *', 'hourly at :05'],
    ['30 2 * * *', 'daily at 02:30'],
    ['30 2 * * 1-5', 'Monday to Friday at 02:30'],
    ['0 4 * * 0', 'Sundays at 04:00'],
    ['0 4 * * 7', 'Sundays at 04:00'],
    ['0 6 1 * *', 'monthly on day 1 at 06:00'],
  ] as const) {
    it(`reads ${cron} as ${words}`, () => {
      expect(cronWords(cron)).to.equal(words);
    });
  }

  for (const cron of [
    '*/7 * * * *',
    '0 */2 * * *',
    '0 9-17 * * *',
    '0 4 1 * 1',
    '0 4 1 1 *',
    '0 4 * * MON',
    '0 4 L * *',
    '*/10 * * * * *',
    '',
  ]) {
    it(`leaves ${JSON.stringify(cron)} as it is`, () => {
      expect(cronWords(cron)).to.equal(null);
    });
  }
});
