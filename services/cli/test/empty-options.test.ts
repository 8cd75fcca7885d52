import { type Command, InvalidArgumentError } from 'commander';
import { expect } from 'chai';
import { createProgram } from '../src/program.js';

/** Values for required arguments and options of every command. */
function valueOf(name: string): string {
  if (name === 'id') return '01a20472-5ed1-7102-9962-bf1f1a0fa733';
  return 'x';
}

/** Yields all commands: those of the program, and those of its groups, such as `queues pause`. */
function* commandsOf(parent: Command, path: readonly string[] = []): Generator<[string[], Command]> {
  for (const command of parent.commands) {
    const own = [...path, command.name()];
    yield [own, command];
    yield* commandsOf(command, own);
  }
}

/** Runs a program of which no command does anything. Returns whether one would have, and the error. */
async function tryToRun(args: readonly string[]): Promise<{ hasRun: boolean; error: unknown }> {
  const program = createProgram();
  let hasRun = false;
  for (const [, command] of commandsOf(program))
    command
      .action(() => {
        hasRun = true;
      })
      .configureOutput({ writeErr: () => undefined })
      .exitOverride();
  const error = await program
    .parseAsync(['node', 'longshore', ...args])
    .then(() => undefined)
    .catch((thrown: unknown) => thrown);
  return { hasRun, error };
}

describe('An option of the command line that is given', () => {
  const options = [...commandsOf(createProgram())].flatMap(([path, command]) =>
    command.options
      .filter(({ required: takesValue, long }) => takesValue && long !== undefined)
      .map((each) => ({
        path,
        isGroup: command.commands.length > 0,
        option: each.long ?? '',
        places: command.registeredArguments.filter((place) => place.required).map((place) => place.name()),
        required: command.options
          .filter(({ mandatory, long }) => mandatory && long !== each.long)
          .map(({ long }) => long ?? ''),
      })),
  );

  for (const { path, option, places, required } of options)
    it(`may not be empty: longshore ${path.join(' ')} ${option} ""`, async () => {
      const others = required.flatMap((other) => [other, valueOf(other)]);
      const { hasRun, error } = await tryToRun([...path, ...places.map(valueOf), ...others, option, '']);
      expect(hasRun).to.equal(false);
      expect(error)
        .to.have.property('code')
        .that.matches(/^commander\./);
    });

  for (const { path, option } of options.filter(({ isGroup }) => isGroup))
    it(`may not be empty before a command of a group: longshore ${path.join(' ')} ${option} "" …`, async () => {
      const first = [...commandsOf(createProgram())].find(
        ([own]) => own.length > path.length && path.every((name, index) => own[index] === name),
      );
      const [own = [], command] = first ?? [];
      const places = command?.registeredArguments.filter((place) => place.required) ?? [];
      const rest = [...own.slice(path.length), ...places.map((place) => valueOf(place.name()))];
      const { hasRun, error } = await tryToRun([...path, option, '', ...rest]);
      expect(hasRun).to.equal(false);
      expect(error)
        .to.have.property('code')
        .that.matches(/^commander\./);
    });

  it('may not be empty either if it is an argument', async () => {
    expect((await tryToRun(['migrate', ''])).error).to.be.instanceOf(InvalidArgumentError);
    expect((await tryToRun(['queues', 'pause', ''])).error).to.be.instanceOf(InvalidArgumentError);
  });
});
