import { ConfigError } from './config.js';

/** The variable that each option is from. */
type Variables<Options> = Readonly<Record<keyof Options & string, string>>;

/**
 * Returns what a constructor refuses of the options that a service would give it: every option that it refuses by itself, and
 * one refusal of the others together. Each is a sentence without a full stop that names the variable.
 *
 * A service asks the constructor itself instead of checking values a second time, so that it cannot find valid what then
 * fails.
 *
 * @param create is called with some or all of the options
 */
export function refusals<Options extends object>(
  options: Options,
  variables: Variables<Options>,
  create: (options: Partial<Options>) => unknown,
): string[] {
  if (refusalOf(() => create(options)) === null) return [];
  const names = Object.keys(options) as (keyof Options & string)[];
  const alone = new Map(
    names.map((name) => [name, refusalOf(() => create({ [name]: options[name] } as Partial<Options>))]),
  );
  const accepted = names.filter((name) => alone.get(name) === null);
  const rest = Object.fromEntries(accepted.map((name) => [name, options[name]])) as Partial<Options>;
  const together = refusalOf(() => create(rest));
  const named = names.flatMap((name) => {
    const refusal = alone.get(name) ?? null;
    return refusal === null ? [] : [naming(refusal, name, variables[name])];
  });
  return together === null ? named : [...named, together];
}

/** Returns the message of the error with which `create` refuses its options; `null` if it does not. */
function refusalOf(create: () => unknown): string | null {
  try {
    create();
    return null;
  } catch (error) {
    const isRefusal =
      error instanceof RangeError || error instanceof TypeError || error instanceof ConfigError;
    if (isRefusal) return error.message.replace(/\.$/, '');
    throw error;
  }
}

/** Replaces the name of the option at the beginning of a sentence by that of its variable, or puts that before it. */
function naming(sentence: string, option: string, variable: string): string {
  const rest = sentence.startsWith(option) ? sentence.slice(option.length) : '';
  return /^\W/.test(rest) ? variable + rest : `${variable}: ${sentence}`;
}
