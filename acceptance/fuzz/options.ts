/** Options of a fuzz run, read from environment variables. */
export interface Options {
  /** Seed of the generated requests. The order in which responses arrive still varies. */
  readonly seed: number;
  readonly requests: number;
}

/**
 * Reads the variables `SEED` (random by default) and `REQUESTS` (20,000 by default).
 *
 * @throws {RangeError} if a variable is not a non-negative integer
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
