import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { eventually } from '@longshore/test-support';

/** A command of a `console` block, with its documented output. */
export interface ConsoleCommand {
  readonly command: string;
  readonly output: string;
}

/** Parses a `console` block. Each command starts with `$ ` and is followed by its output. */
export function commandsIn(text: string): ConsoleCommand[] {
  const parts = text.split(/^\$ /m).slice(1);
  return parts.map((part) => {
    const [command = ''] = /^(?:.*\\\n)*.*\n/.exec(part) ?? [];
    return { command, output: part.slice(command.length).trim() };
  });
}

/**
 * Matches text that differs between runs: ids, times, numbers of at least five digits such as process ids, and
 * omissions (`…`).
 */
const varying =
  /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|(?<time>\d{4}-\d\d-\d\dT[\d:.]+Z)|\b\d{5,}\b|(?<omitted>[\w+/]*…)/g;

/**
 * Runs documented commands in order, as a reader does. Later commands use the ids and numbers that were actually
 * printed, instead of those on the page.
 */
export class ConsoleSession {
  /** Maps each documented value to the value that was printed in this run. */
  readonly #values = new Map<string, string>();
  readonly #addresses: Readonly<Record<string, string>>;
  readonly #options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv };

  /** @param addresses maps each documented address to its replacement */
  constructor(
    addresses: Readonly<Record<string, string>>,
    options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
  ) {
    this.#addresses = addresses;
    this.#options = { cwd: options.cwd, env: { ...process.env, NODE_OPTIONS: '', ...options.env } };
  }

  /**
   * Runs a command and compares its output with the documented output. The documented output may leave out lines. A
   * command that only reads is repeated until its output matches.
   *
   * @throws {Error} with both outputs if they differ
   */
  async run({ command, output }: ConsoleCommand): Promise<void> {
    const once = async (): Promise<boolean> => {
      const printed = await this.outputOf(command);
      const found = this.#pattern(output).exec(printed);
      if (found === null) throw new Error(`${command}\nDocumented:\n${output}\n\nPrinted:\n${printed}`);
      this.#remember(output, found);
      return true;
    };
    const onlyReads = command.startsWith("curl '") || command.startsWith('cat ');
    await (onlyReads ? eventually(once) : once());
  }

  /**
   * Runs commands and resolves to their standard output.
   *
   * @throws {Error} if a command fails
   */
  async outputOf(commands: string): Promise<string> {
    const shell = promisify(execFile)('bash', ['-ec', this.#translated(commands)], this.#options);
    return (await shell).stdout.replaceAll('\r', '');
  }

  #translated(command: string): string {
    let text = command;
    for (const [documented, value] of [...Object.entries(this.#addresses), ...this.#values])
      text = text.replaceAll(documented, () => value);
    return text;
  }

  #pattern(output: string): RegExp {
    const seen = new Map<string, number>();
    const translated = this.#translated(output);
    let source = '';
    let end = 0;
    for (const match of translated.matchAll(varying)) {
      const [text] = match;
      source += literal(translated.slice(end, match.index));
      end = match.index + text.length;
      const earlier = seen.get(text);
      if (match.groups?.['omitted'] !== undefined) source += '.*';
      else if (match.groups?.['time'] !== undefined) source += String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
      else if ([...this.#values.values()].includes(text)) source += literal(text);
      else if (earlier !== undefined) source += `\\${earlier}`;
      else {
        seen.set(text, seen.size + 1);
        source += text.includes('-') ? String.raw`([\da-f-]{36})` : String.raw`(\d+)`;
      }
    }
    return new RegExp(`^${source}${literal(translated.slice(end))}$`, 'm');
  }

  #remember(output: string, found: RegExpExecArray): void {
    const known = new Set(this.#values.values());
    const documented = new Set<string>();
    for (const { 0: text, groups } of this.#translated(output).matchAll(varying))
      if (groups?.['omitted'] === undefined && groups?.['time'] === undefined && !known.has(text))
        documented.add(text);
    for (const [index, text] of [...documented].entries()) this.#values.set(text, found[index + 1] ?? text);
  }
}

/** Returns the source of a pattern that matches the lines of this text. The pattern allows other lines in between. */
function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n(?:.*\n)*?`);
}
