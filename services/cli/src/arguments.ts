import { InvalidArgumentError } from 'commander';

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
  if (!/^-?\d+$/.test(text)) throw new InvalidArgumentError('The value is not a whole number.');
  return Number(text);
}

export function readPort(text: string): number {
  const port = readInteger(text);
  if (port < 1 || port > 65_535) throw new InvalidArgumentError('A port is a number from 1 to 65535.');
  return port;
}

export function readId(text: string): string {
  if (!/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text))
    throw new InvalidArgumentError('The value is not the id of a job.');
  return text;
}
