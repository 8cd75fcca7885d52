import { InvalidArgumentError } from 'commander';
import { expect } from 'chai';
import { createProgram } from '../src/program.js';

/** Values for required arguments and options of every command. */
function valueOf(name: string): string {
  if (name === 'id') return '01a20472-5ed1-7102-9962-bf1f1a0fa733';
  return 'x';
}

describe('An option of the command line that is given', () => {
  for (const { name, option, places, required } of createProgram().commands.flatMap((command) =>
    command.options
      .filter(({ required: takesValue, long }) => takesValue && long !== undefined)
      .map((each) => ({
        name: command.name(),
        option: each.long ?? '',
        places: command.registeredArguments.filter((place) => place.required).map((place) => place.name()),
        required: command.options
          .filter(({ mandatory, long }) => mandatory && long !== each.long)
          .map(({ long }) => long ?? ''),
      })),
  ))
    it(`may not be empty: longshore ${name} ${option} ""`, async () => {
      const program = createProgram();
      let hasRun = false;
      program.commands
        .find((command) => command.name() === name)
        ?.action(() => {
          hasRun = true;
        })
        .configureOutput({ writeErr: () => undefined })
        .exitOverride();
      const others = required.flatMap((other) => [other, valueOf(other)]);
      const call = ['node', 'longshore', name, ...places.map(valueOf), ...others, option, ''];
      const error = await program.parseAsync(call).catch((thrown: unknown) => thrown);
      expect(hasRun).to.equal(false);
      expect(error)
        .to.have.property('code')
        .that.matches(/^commander\./);
    });

  it('may not be empty either if it is an argument', async () => {
    const program = createProgram();
    const error = await program
      .parseAsync(['node', 'longshore', 'migrate', ''])
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(InvalidArgumentError);
  });
});
