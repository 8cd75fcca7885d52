import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { refuseEmpty } from './arguments.js';
import { addHttpCommands } from './http-commands.js';
import { addLocalCommands } from './local-commands.js';
import { addOperationCommands } from './operation-commands.js';
import { print } from './output.js';

/** Creates the `longshore` command with its subcommands. */
export function createProgram(): Command {
  const program = new Command('longshore')
    .description('Background jobs on Postgres: develop, run the services, and call an installation')
    .version(versionOf('../package.json'))
    .exitOverride()
    .showSuggestionAfterError()
    .hook('preAction', (_program, command) => refuseEmpty(command))
    .addHelpText(
      'after',
      `
Variables are read from the environment and from the file .env in the working directory.

Examples:
  longshore dev src/application.ts             everything in one process, with reload
  longshore worker dist/application.js         runs jobs
  longshore enqueue greet '{"name":"Ada"}' --wait
  longshore jobs --state failed --json
  longshore logs 01a20472-5ed1-7102-9962-bf1f1a0fa733 --follow`,
    );
  addLocalCommands(program);
  addHttpCommands(program);
  addOperationCommands(program);
  addCompletionCommand(program);
  return program;
}

function versionOf(manifest: string): string {
  const { version } = JSON.parse(readFileSync(new URL(manifest, import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return version;
}

const shells = ['bash', 'zsh'] as const;

/** Adds the command that prints a script with which a shell completes commands and options. */
function addCompletionCommand(program: Command): void {
  const command = program
    .command('completion')
    .description('Print a script that completes commands and options in a shell')
    .addHelpText(
      'after',
      '\nExample: eval "$(longshore completion bash)"\n\nPut the line into ~/.bashrc; for zsh, into ~/.zshrc after compinit.',
    );
  for (const shell of shells)
    command
      .command(shell)
      .description(`for ${shell}`)
      .action(() => print(scriptOf(program, shell)));
}

/**
 * Returns the script. It contains all commands and options, so the shell need not start the command line to complete one.
 * zsh runs functions made for bash (`bashcompinit`).
 */
function scriptOf(program: Command, shell: (typeof shells)[number]): string {
  const commands = [...tree(program)];
  const words = commands.map(({ path, words }) => `    '${path}') words='${words.join(' ')}' ;;`);
  const paths = commands.map(({ path }) => `'${path}'`).join('|');
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_longshore() {
  local words='' path=longshore word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$path $word" in
      ${paths}) path="$path $word" ;;
    esac
  done
  case "$path" in
${words.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _longshore longshore`;
}

/** Yields a command and all below it: their paths, and the words that can follow. */
function* tree(
  command: Command,
  path = command.name(),
): Generator<{ readonly path: string; readonly words: readonly string[] }> {
  const options = command.options.flatMap(({ long }) => long ?? []);
  yield { path, words: [...command.commands.map((child) => child.name()), ...options, '--help'] };
  for (const child of command.commands) yield* tree(child, `${path} ${child.name()}`);
}
