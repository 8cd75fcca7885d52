import { expect } from 'chai';
import fc from 'fast-check';
import { toJobError } from '../src/job/failure.js';
import { toLogText, toProgress } from '../src/job/job-log.js';
import { defineJob, handleJob, SnoozeJob } from '../src/index.js';
import type { ClaimedJob, Outcome } from '../src/storage.js';
import { failure } from '../src/server/outcome.js';
import { fromErrorData, toErrorData } from '../src/server/threads/error-data.js';

const claimed: ClaimedJob = {
  claim: { jobId: 'job', queue: 'default', serverId: 'server', attempt: 1 },
  name: 'work',
  priority: 0,
  args: {},
  maxAttempts: 10,
  createdAt: new Date(),
  dueAt: new Date(0),
  readyAt: new Date(0),
  meta: null,
};

const tenYearsMs = 315_360_000_000;

/**
 * Generates functions that create hostile values: values that throw when printed, read or inspected, or that cannot be
 * serialized.
 */
const hostile = fc.constantFrom<MakeValue>(
  () => Object.create(null) as unknown,
  () => ({
    toString: () => {
      throw new Error('no text');
    },
  }),
  () => ({ toString: () => ({}), valueOf: () => ({}) }),
  () => Symbol('odd'),
  () => 10n ** 40n,
  () => {
    const { proxy, revoke } = Proxy.revocable(new Error('gone'), {});
    revoke();
    return proxy;
  },
  () =>
    new Proxy(new Error('trapped'), {
      get: () => {
        throw new Error('no member');
      },
    }),
  () =>
    new Proxy(new Error('trapped'), {
      getPrototypeOf: () => {
        throw new Error('no prototype');
      },
    }),
  () =>
    new Proxy(function odd() {}, {
      get: () => {
        throw new Error('no member');
      },
    }),
  () => {
    const snake: Record<string, unknown> = {};
    snake['self'] = snake;
    return snake;
  },
);

/** Creates an odd value. Generators yield such functions, because fast-check would inspect the values themselves. */
type MakeValue = () => unknown;

const member: fc.Arbitrary<MakeValue> = fc.oneof(
  hostile,
  fc
    .anything({ withBigInt: true, withNullPrototype: true, withObjectString: true })
    .map((value) => () => value),
  fc.string({ unit: 'binary' }).map((value) => () => value),
);

/** Generates errors whose members can be odd values or getters that throw. */
const oddError: fc.Arbitrary<MakeValue> = fc
  .dictionary(
    fc.constantFrom('name', 'message', 'stack', 'cause', 'delayMs', 'constructor'),
    fc.oneof(
      member.map((make) => ({ make })),
      fc.constant({ throws: true }),
    ),
  )
  .chain((members) =>
    fc.constantFrom(new Error('odd'), new SnoozeJob(5)).map((template) => () => {
      const error = Object.create(Object.getPrototypeOf(template) as object) as object;
      for (const [key, how] of Object.entries(members)) {
        Object.defineProperty(
          error,
          key,
          'throws' in how
            ? {
                get: () => {
                  throw new Error('no such member');
                },
              }
            : { value: how.make() },
        );
      }
      return error;
    }),
  );

const thrown = fc.oneof(member, oddError);

function failureOf(value: unknown, options: Partial<Parameters<typeof defineJob>[0]> = {}): Outcome {
  const definition = defineJob({ name: 'work', ...options });
  return failure(
    claimed,
    value,
    handleJob(definition, () => null),
    { cancelled: false, timeout: null },
  );
}

/** Asserts that Postgres can store the outcome and another process can read it. */
function expectStorable(outcome: Outcome): void {
  const text = JSON.stringify(outcome);
  expect(JSON.parse(text)).to.deep.equal(outcome);
  expect(text).not.to.match(/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/);
  if ('delayMs' in outcome) expect(outcome.delayMs).to.be.within(0, tenYearsMs);
  if ('error' in outcome) {
    expect(outcome.error.name).to.be.a('string').with.length.within(1, 200);
    expect(outcome.error.message).to.be.a('string').with.length.at.most(4_000);
  }
}

describe('An unusual error of a handler', () => {
  it('becomes an outcome that can be stored', () => {
    fc.assert(
      fc.property(thrown, fc.boolean(), (make, cancelled) => {
        const handler = handleJob(defineJob({ name: 'work' }), () => null);
        expectStorable(failure(claimed, make(), handler, { cancelled, timeout: null }));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is passed from a thread to the server', () => {
    fc.assert(
      fc.property(thrown, (make) => {
        const data = structuredClone(toErrorData(make()));
        expectStorable(failureOf(fromErrorData(data, [SnoozeJob])));
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps the parts that can be read', () => {
    const error = new TypeError('seen');
    Object.defineProperty(error, 'message', { value: Object.create(null) });
    const { name, message } = toJobError(error);
    expect(name).to.equal('TypeError');
    expect(message).to.equal('a value that cannot be printed');
  });
});

describe('An unusual report of a handler', () => {
  it('becomes a log line or progress that can be stored', () => {
    fc.assert(
      fc.property(member, member, (makeMessage, makeFields) => {
        const [message, fields] = [makeMessage(), makeFields()];
        const line = toLogText(message as string, fields ?? undefined, 4_096);
        if (line.fields !== null) JSON.parse(line.fields);
        expect(toProgress(message as number, null).percent).to.be.within(0, 100);
        toProgress(0, fields as string);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('A delay requested by a handler', () => {
  const delays: [string, unknown, number][] = [
    ['Infinity', Infinity, tenYearsMs],
    ['1e300', 1e300, tenYearsMs],
    ['-1', -1, 0],
  ];
  for (const [what, delay, expected] of delays) {
    it(`is clamped to its bounds if it is ${what}`, () => {
      expect(failureOf(new Error(), { retryDelay: () => delay as number })).to.include({ delayMs: expected });
    });
  }

  it('falls back to the default if retryDelay does not return a number', () => {
    for (const delay of [Number.NaN, undefined, '5', 5n, {}]) {
      const outcome = failureOf(new Error(), { retryDelay: () => delay as number });
      expect('delayMs' in outcome && outcome.delayMs).to.be.within(900, 1_100);
    }
  });

  it('is rejected by SnoozeJob beyond ten years, which fails the attempt', () => {
    for (const delay of [1e300, Infinity, Number.NaN, -1, '5' as unknown as number])
      expect(() => new SnoozeJob(delay)).to.throw(RangeError, 'from 0 to 315360000000 (ten years)');
  });

  it('fails the attempt if it was changed to an invalid value', () => {
    const snooze = Object.assign(new SnoozeJob(1), { delayMs: 1e300 });
    expect(failureOf(snooze)).to.deep.include({ kind: 'retry' });
  });
});

describe('Retry rules', () => {
  it('are rejected if they contain anything but classes', () => {
    for (const rule of ['retryOn', 'giveUpOn'] as const)
      expect(() => defineJob({ name: 'work', [rule]: [Error, undefined] })).to.throw(
        TypeError,
        `${rule}[1] is undefined, not an error class`,
      );
  });

  it('apply as far as possible if a definition was assembled by hand', () => {
    const definition = { ...defineJob({ name: 'work' }), retryRules: { giveUpOn: [undefined, RangeError] } };
    const handler = handleJob(definition as never, () => null);
    const kindOf = (error: Error): string =>
      failure(claimed, error, handler, { cancelled: false, timeout: null }).kind;
    expect([kindOf(new RangeError()), kindOf(new TypeError())]).to.deep.equal(['failed', 'retry']);
  });
});
