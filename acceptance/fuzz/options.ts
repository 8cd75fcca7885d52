/** The options of a run, from the environment. */
export interface Options {
  /** The same seed generates the same requests; the order of responses may differ. */
  readonly seed: number;
  readonly requests: number;
}

/**
 * Reads `SEED` (random by default) and `REQUESTS`.
 *
 * @throws {RangeError} if one is not a non-negative integer
 */
export function readOptions(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Options {
  const integer = (name: string, otherwise: number): number => {
    const text = environment[name] ?? '';
    const value = text === '' ? otherwise : Number(text);
    if (Number.isSafeInteger(value) && value >= 0) return value;
    throw new RangeError(`${name} must be a non-negative integer, not "${text}"`);
  };
  return { seed: integer('SEED', Math.floor(Math.random() * 1e9)), requests: integer('REQUESTS', 20_000) };
}
