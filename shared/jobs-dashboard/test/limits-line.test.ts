import { expect } from 'chai';
import type { JsonValue } from '@longshore/jobs';
import { limitsLine } from '../src/pages/audit.js';

const minute = { jobs: 1_200, periodMs: 60_000 };

describe('a change of a queue’s limits', () => {
  for (const [before, values, line] of [
    [{ concurrencyLimit: 2 }, { concurrencyLimit: 4_000 }, 'at once 2 → 4,000'],
    [{ concurrencyLimit: 2 }, { concurrencyLimit: null }, 'at once 2 → none'],
    [{ rateLimit: null }, { rateLimit: minute }, 'starts none → 1,200 per min'],
    [
      { rateLimit: minute },
      { rateLimit: { ...minute, burst: 20 } },
      'starts 1,200 per min → 1,200 per min (20 in a burst)',
    ],
    [{ concurrencyLimit: 2, rateLimit: minute }, { concurrencyLimit: 3, rateLimit: minute }, 'at once 2 → 3'],
    [
      { concurrencyLimit: 2, rateLimit: null },
      { concurrencyLimit: 2, rateLimit: null },
      'at once 2, starts none',
    ],
    [
      null,
      { concurrencyLimit: 2, rateLimit: { jobs: 10, periodMs: 90_000 } },
      'at once 2, starts 10 per 1 min 30 s',
    ],
    [{ concurrencyLimit: 2 }, { concurrencyLimit: 'many' }, null],
    [null, { constructor: 1 }, null],
    [null, { rateLimit: { jobs: 1 } }, null],
    [null, 'none', null],
  ] as const satisfies readonly (readonly [JsonValue, JsonValue, string | null])[]) {
    it(`${JSON.stringify(before)} and then ${JSON.stringify(values)} are recorded as ${line}`, () => {
      expect(limitsLine(before, values)).to.equal(line);
    });
  }
});
