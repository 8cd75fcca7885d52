import { parseArgs } from 'node:util';

export interface Options {
  /** How long to keep causing faults, in seconds; 0 causes each fault once. Ignored if `faults` is positive. */
  readonly seconds: number;
  /** Number of faults to cause; 0 if `seconds` decides when to stop. */
  readonly faults: number;
  /** Seed of the random choices, such as the order of the faults and their targets. */
  readonly seed: number;
  /** Total number of enqueue requests per second, across all enqueuers. */
  readonly rate: number;
  /** Names of the faults to choose from; by default, all faults that are possible in this run. */
  readonly only: readonly string[];
}

const help = `Causes faults under load. Every accepted job must end as done, and its effect must be stored.

  --seconds N    keep causing faults for N seconds; 0 causes each fault once (default 300)
  --short        cause each fault once, as in CI
  --faults N     cause N faults, however long that takes
  --seed N       repeat the random choices of an earlier run (default: a new seed, which is printed)
  --rate N       enqueue requests per second (default 50); use fewer if several nodes share a machine
  --only A,B     cause only these faults
  --help         show this text and the names of the faults
`;

/**
 * Parses the command line. With `--help`, prints the help and returns `null`.
 *
 * @throws {Error} if an option or a fault is unknown, or if a value is not a valid number
 */
export function readOptions(faults: readonly string[]): Options | null {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '300' },
      faults: { type: 'string', default: '0' },
      short: { type: 'boolean', default: false },
      seed: { type: 'string' },
      rate: { type: 'string', default: '50' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(`${help}\nFaults: ${faults.join(', ')}`);
    return null;
  }
  const only = values.only.split(',').filter((name) => name !== '');
  const unknown = only.filter((name) => !faults.includes(name));
  if (unknown.length > 0)
    throw new Error(`Unknown faults: ${unknown.join(', ')}. Available: ${faults.join(', ')}`);
  const seconds = values.short ? 0 : Number(values.seconds);
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
  const maxFaults = Number(values.faults);
  const rate = Number(values.rate);
  if (
    !(seconds >= 0) ||
    !Number.isInteger(seed) ||
    !Number.isInteger(maxFaults) ||
    !(maxFaults >= 0) ||
    !(rate > 0)
  )
    throw new Error('--seconds, --faults, --seed and --rate take numbers that are not negative');
  return { seconds, seed, rate, only: only.length === 0 ? faults : only, faults: maxFaults };
}
