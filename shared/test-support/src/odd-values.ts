/** Values that programs without types pass by mistake, by how a test calls them. */
const oddValues: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['undefined', undefined],
  ['null', null],
  ['false', false],
  ['true', true],
  ['0', 0],
  ['-1', -1],
  ['1.5', 1.5],
  ['1e300', 1e300],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['a bigint', 10n],
  ['an empty string', ''],
  ['a word', 'word'],
  ['NUL', 'a\0b'],
  ['half a character', '\ud800'],
  ['a symbol', Symbol('odd')],
  ['a function', () => undefined],
  ['an object', {}],
  ['an object without a prototype', Object.create(null)],
  ['a misspelt option', { optoin: 1 }],
  ['a list', []],
  ['a list of undefined', [undefined]],
  ['a list of null', [null]],
  ['a list of numbers', [1]],
  ['a list of NUL', ['\0']],
  ['a Date', new Date('2040-01-01T00:00:00Z')],
  ['an invalid Date', new Date(Number.NaN)],
  ['a Date that Postgres cannot store', new Date(-8.64e15)],
  ['a promise', Promise.resolve(null)],
]);

/** What errors of the language, the drivers and Postgres say. */
const raw = new RegExp(
  [
    'cannot (read|destructure|convert|mix|use|set|call|access)',
    'is not (a function|iterable|a constructor|an object|defined)$',
    'invalid (input|byte|time value|array length|url)',
    'out of range for type|malformed|syntax error|violates|null value|serialize',
    'does not exist$|could not determine|operator|reduce of empty',
  ].join('|'),
  'i',
);

/** What was wrong with a call that was given an odd value, if it did not work. */
type Answer = 'accepted' | 'refused' | { readonly problem: string };

/**
 * Makes a call with an odd value. It must either work, or throw an error of ours: a TypeError or a RangeError whose message
 * is neither the language's nor that of a driver or of Postgres.
 */
async function answerTo(call: () => unknown): Promise<Answer> {
  try {
    await call();
    return 'accepted';
  } catch (error) {
    const isRefusal = error instanceof TypeError || error instanceof RangeError;
    if (!isRefusal) return { problem: `threw ${String(error)}` };
    return raw.test(error.message) ? { problem: `said "${error.message}"` } : 'refused';
  }
}

interface OddCall {
  /** A valid argument. Its members are given odd values, too, one at a time. */
  readonly complete?: object | undefined;
  /** Describes what the call could change. */
  readonly contents?: (() => unknown) | undefined;
}

/**
 * Makes a call with each odd value, and returns a line for each that was answered with an error that is not ours, or that
 * was refused although it changed something.
 */
export async function badAnswers(
  name: string,
  call: (value: unknown) => unknown,
  { complete = {}, contents = () => null }: OddCall = {},
): Promise<string[]> {
  const bad: string[] = [];
  let before = JSON.stringify(await contents());
  for (const [oddity, value] of oddValues) {
    const answer = await answerTo(() => call(value));
    const after = JSON.stringify(await contents());
    if (typeof answer === 'object') bad.push(`${name} with ${oddity} ${answer.problem}`);
    else if (answer === 'refused' && after !== before)
      bad.push(`${name} with ${oddity} refused, but changed`);
    before = after;
  }
  for (const member of Object.keys(complete)) {
    const ofMember = (value: unknown): unknown => call({ ...complete, [member]: value });
    bad.push(...(await badAnswers(`${name}.${member}`, ofMember, { contents })));
  }
  return bad;
}
