import type { TObject } from 'typebox';
import { problemsOf, rangeOf } from './config.js';
import { type Environment, givenValues, secretsOf } from './given-values.js';
import { serviceVersion } from './process-metrics.js';

/** A service as a command. */
interface Inspected {
  readonly name: string;
  readonly variables: TObject;
  readonly environment: Environment;
  /** @throws {ConfigError} if the environment is invalid */
  readonly readConfig: (environment: Environment) => object;
  /** Returns what the service would find wrong when it starts, besides. */
  readonly findProblems?: (environment: Environment) => Promise<readonly string[]>;
  /** Commands by name. */
  readonly commands?: Readonly<Record<string, unknown>>;
}

type Value = string | number | boolean;
type Values = Readonly<Record<string, Value | undefined>>;

interface Definition {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly default?: Value;
  readonly minimum?: number;
  readonly maximum?: number;
}

const documentation = 'https://github.com/longshore-jobs/longshore/blob/main/docs/configuration.md';

type Inspection = (service: Inspected) => Promise<{ readonly text: string; readonly code: number }>;

/** The options that print something about a service instead of starting it. */
export const inspections: Readonly<Record<string, Inspection>> = {
  '--help': async (service) => ({ text: helpOf(service), code: 0 }),
  '--version': async ({ name }) => ({ text: `${name} ${serviceVersion}`, code: 0 }),
  '--check': async (service) => {
    const { problems } = await configOf(service);
    return problems.length === 0
      ? { text: 'The configuration is valid.', code: 0 }
      : { text: problems.map((problem) => `${problem}.`).join('\n'), code: 1 };
  },
  '--print-config': async (service) => {
    const { config, problems } = await configOf(service);
    const lines = [...printed(service, config), ...problems.map((problem) => `# ${problem}.`)];
    return { text: lines.join('\n'), code: problems.length === 0 ? 0 : 1 };
  },
};

/** Returns the configuration, which is empty if it has problems that reading it reports, and all problems. */
async function configOf({ readConfig, findProblems, environment }: Inspected): Promise<{
  readonly config: Values;
  readonly problems: readonly string[];
}> {
  let config: Values = {};
  const problems = problemsOf(() => (config = { ...readConfig(environment) }));
  const further = (await findProblems?.(environment)) ?? [];
  return { config, problems: [...new Set([...problems, ...further])] };
}

/** Returns a line for each variable, in the format of an env file: its value and where that is from. */
function printed({ variables, environment }: Inspected, config: Values): string[] {
  const secrets = new Set(secretsOf(variables));
  const { values } = givenValues(variables, environment);
  return Object.entries(variables.properties).map(([name, definition]) => {
    const given = values[name];
    const value = config[name] ?? given?.text ?? (definition as Definition).default ?? '';
    const shown = secrets.has(name) && value !== '' ? '********' : value;
    const unset = value === '' ? 'not set' : 'default';
    const source =
      given === undefined ? unset : given.file === undefined ? 'environment' : `file ${given.file}`;
    return `${name}=${shown}  # ${source}`;
  });
}

function helpOf({ name, variables, commands = {} }: Inspected): string {
  const secrets = new Set(secretsOf(variables));
  const definitions = Object.entries(variables.properties);
  const width = Math.max(...definitions.map(([variable]) => variable.length));
  const listed = definitions.map(([variable, definition]) => {
    const { default: standard } = definition as Definition;
    const notes = [
      kindOf(definition),
      ...(standard === undefined || standard === '' ? [] : [`default ${String(standard)}`]),
      ...(secrets.has(variable) ? [`or ${variable}_FILE`] : []),
    ];
    return `  ${variable.padEnd(width)}  ${notes.join('; ')}`;
  });
  const usages = ['', ...Object.keys(commands), ...Object.keys(inspections)];
  return [
    'Usage:',
    ...usages.map((argument) => `  ${`${name} ${argument}`.trim()}`),
    '',
    '--check prints everything that is wrong with the configuration. --print-config prints each value and where it is from,',
    'without secrets. Without arguments, the service runs until it gets SIGTERM or SIGINT.',
    '',
    `Environment variables (${documentation}):`,
    ...listed,
  ].join('\n');
}

function kindOf({ type, enum: values, minimum, maximum }: Definition): string {
  if (values !== undefined) return values.join(' | ');
  if (type === 'integer') return `whole number${rangeOf(minimum, maximum)}`;
  return type === 'boolean' ? 'true | false' : 'text';
}
