import fc from 'fast-check';
import { type OpenApiDocument, type Schema } from '@longshore/test-support';
import { illegal } from './illegal.js';
import { legal, type Vocabulary } from './legal.js';

/** A job definition of the application, as `/job-definitions` returns it. */
export interface JobDefinition {
  readonly name: string;
  readonly argsSchema: Schema;
}

/** Name of a job to avoid, because it can occupy the worker for up to an hour. */
const slow = 'test';

/**
 * Returns the vocabulary for generating requests. Job arguments are generated from each job's schema; about one job in
 * ten gets invalid arguments.
 */
export function vocabularyOf(document: OpenApiDocument, definitions: readonly JobDefinition[]): Vocabulary {
  const empty: Vocabulary = { document, jobs: fc.constant({ name: slow, args: {} }) };
  const jobs = definitions
    .filter(({ name }) => name !== slow)
    .map(({ name, argsSchema }) => {
      const args = fc.oneof(
        { arbitrary: legal(empty, argsSchema), weight: 9 },
        { arbitrary: illegal(empty, argsSchema), weight: 1 },
      );
      return args.map((given) => ({ name, args: given }));
    });
  return { document, jobs: fc.oneof(...jobs) };
}
