import { parseArgs } from 'node:util';
import { scenarios } from './scenarios/index.js';
import { fullSizes, type Sizes, smokeSizes } from './sizes.js';

export interface Options {
  readonly help: boolean;
  readonly smoke: boolean;
  /** Names of the scenarios to run. */
  readonly only: readonly string[];
  readonly sizes: Sizes;
  readonly json: string | undefined;
  readonly svg: string | undefined;
  readonly profiles: string | undefined;
  readonly statements: boolean;
}

export const usage = `Usage: node bench/dist/main.js [options]

  --smoke             tiny sizes: shows that every scenario works, its numbers mean nothing
  --only NAME[,NAME]  some scenarios: ${scenarios.map(({ name }) => name).join(', ')}
  --set SIZE=NUMBER   another size, may be given again: ${Object.keys(fullSizes).join(', ')}
  --json FILE         write the result there too
  --svg FILE          draw the rates and latencies there
  --cpu-prof DIR      leave a CPU profile of every contender's process there
  --statements        print what the statements of each Longshore database have cost (slows them down)
`;

/**
 * Parses the command line.
 *
 * @throws {Error} describing the mistake if the command line is invalid
 */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      smoke: { type: 'boolean', default: false },
      only: { type: 'string' },
      set: { type: 'string', multiple: true, default: [] },
      json: { type: 'string' },
      svg: { type: 'string' },
      'cpu-prof': { type: 'string' },
      statements: { type: 'boolean', default: false },
    },
  });
  const names = scenarios.map(({ name }) => name);
  const usual = scenarios.filter(({ isLeftOutOfSmoke = false }) => !values.smoke || !isLeftOutOfSmoke);
  const only = values.only?.split(',') ?? usual.map(({ name }) => name);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`There is no scenario "${unknown}": ${names.join(', ')}`);
  return {
    help: values.help,
    smoke: values.smoke,
    only,
    sizes: { ...(values.smoke ? smokeSizes : fullSizes), ...Object.fromEntries(values.set.map(toSize)) },
    json: values.json,
    svg: values.svg,
    profiles: values['cpu-prof'],
    statements: values.statements,
  };
}

function toSize(setting: string): [string, number] {
  const [name = '', text = ''] = setting.split('=');
  if (!(name in fullSizes))
    throw new Error(`There is no size "${name}": ${Object.keys(fullSizes).join(', ')}`);
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${name} must be a positive integer, not "${text}"`);
  return [name, Number(text)];
}
