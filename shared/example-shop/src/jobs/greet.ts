import { defineJob, handleJob } from '@longshore/jobs';
import Type from 'typebox';

export const greet = defineJob({
  name: 'greet',
  args: Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) }, { additionalProperties: false }),
});

export const greetHandler = handleJob(greet, ({ args }) => ({ greeting: `Hello, ${args.name}!` }));
