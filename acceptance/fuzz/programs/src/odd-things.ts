/** Values that a handler might return by mistake. */
export const oddThings: readonly (() => unknown)[] = [
  () => undefined,
  () => Number.NaN,
  () => -0,
  () => Number.POSITIVE_INFINITY,
  () => 10n,
  () => Symbol('odd'),
  () => () => 1,
  () => new Date(Number.NaN),
  () => 'a\0b',
  () => '\uD800',
  () => ({ ['\0']: 1 }),
  () => new Map([[1, 2]]),
  () => new Proxy({}, {}),
  () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    return circle;
  },
  () => ({
    toJSON: () => {
      throw new Error('toJSON throws');
    },
  }),
  () => ({
    get secret(): never {
      throw new Error('a getter throws');
    },
  }),
  () => {
    let deep: unknown = 1;
    for (let level = 0; level < 20_000; level += 1) deep = [deep];
    return deep;
  },
  () => 'x'.repeat(3_000_000),
];

/** Values that a handler might throw, because JavaScript can throw anything. */
export const throwables: readonly (() => unknown)[] = [
  ...oddThings,
  () => null,
  () => 'a text',
  () => Object.create(null) as unknown,
  () => new Error('a\0b \uD800'),
  () => new Error('x'.repeat(1_000_000)),
  () => new AggregateError([new Error('one'), null, undefined], 'several'),
  () =>
    Object.assign(new Error('odd members'), {
      message: Object.create(null) as unknown,
      stack: 7,
      name: null,
    }),
  () => Object.assign(new Error('a cause'), { cause: Object.create(null) as unknown }),
  () => {
    const error = new Error('its own cause');
    error.cause = error;
    return error;
  },
  () =>
    Object.defineProperty(new Error('hidden'), 'message', {
      get: () => {
        throw new Error('a getter throws');
      },
    }),
  () =>
    new Proxy(new Error('a proxy'), {
      get: () => {
        throw new Error('a trap throws');
      },
    }),
];
