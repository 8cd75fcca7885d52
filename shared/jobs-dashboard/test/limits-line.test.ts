import { type JsonValue, MemoryStorage } from '@longshore/jobs';
import { defaultRedaction } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { auditPage } from '../src/pages/audit.js';
import type { PageContext } from '../src/shell/page.js';

/** Returns the line of the audit page about a change of limits; `null` if it does not recognize limits. */
async function shownFor(before: JsonValue, values: JsonValue): Promise<unknown> {
  const reader = new MemoryStorage();
  await reader.audit.record({
    who: 'ann',
    action: 'queues/limit',
    target: 'mail',
    filter: { before, values },
    count: 1,
  });
  const request = {
    params: {},
    query: new URLSearchParams(),
    viewer: { name: 'ann', role: 'viewer' },
  } as const;
  const context = { reader, redact: defaultRedaction, now: Date.now } as unknown as PageContext;
  const { regions } = await auditPage(request, context);
  const model = (await regions[0]?.load()) as { readonly entries: readonly { readonly limits: unknown }[] };
  return model.entries[0]?.limits;
}

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
    it(`${JSON.stringify(before)} and then ${JSON.stringify(values)} are shown as ${line}`, async () => {
      expect(await shownFor(before, values)).to.equal(line);
    });
  }
});
