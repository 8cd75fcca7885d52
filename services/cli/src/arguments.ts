import { parseInteger, parseUuid } from '@longshore/edge';
import { type Command, InvalidArgumentError } from 'commander';

// Parsers for command-line arguments. If a value is invalid, they throw an InvalidArgumentError, and the command exits
// with code 2.

export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`The value is not JSON: ${(error as Error).message}`);
  }
}

export function readInteger(text: string): number {
  const number = parseInteger(text);
  if (number === undefined) throw new InvalidArgumentError('The value is not a whole number.');
  return number;
}

export function readPort(text: string): number {
  const port = readInteger(text);
  if (port < 1 || port > 65_535) throw new InvalidArgumentError('A port is a number from 1 to 65535.');
  return port;
}

export function readId(text: string): string {
  const id = parseUuid(text);
  if (id === undefined) throw new InvalidArgumentError('The value is not the id of a job.');
  return id;
}

/**
 * Refuses options and arguments that are given but empty, usually because a shell variable is not set: an empty filter or
 * restriction must not mean "all".
 *
 * @throws {InvalidArgumentError} if there is one
 */
export function refuseEmpty(command: Command): void {
  if (command.args.includes('')) throw new InvalidArgumentError('An argument must not be empty.');
  // An option that a group has, too, belongs to the group, wherever it stands: `longshore queues pause mail --key x`.
  for (let owner: Command | null = command; owner !== null; owner = owner.parent) refuseEmptyOptions(owner);
}

function refuseEmptyOptions(command: Command): void {
  for (const option of command.options) {
    const name = option.attributeName();
    const isGiven = command.getOptionValueSource(name) === 'cli';
    if (isGiven && [command.getOptionValue(name) as unknown].flat().includes(''))
      throw new InvalidArgumentError(`${option.long ?? name} must not be empty; leave it out instead.`);
  }
}
