import { bounds, conflictPolicies, jobStates } from '@longshore/jobs/storage';
import Type from 'typebox';
import { integer, nullable, text } from './fields.js';

const concurrency = {
  key: text(bounds.keyLength, 'The concurrency key, such as the ID of a tenant'),
  limit: integer(bounds.concurrencyLimit, 'How many jobs with this key run at once'),
};

/** The concurrency key of a job, as the API shows it. */
export const ConcurrencyItem = Type.Object(concurrency, {
  description: 'Limits how many jobs of the queue with this key run at once; null if nothing does',
});

/** The concurrency key in a request body. */
export const NewConcurrency = Type.Object(concurrency, {
  additionalProperties: false,
  description: 'Limits how many jobs of the queue with this key run at once',
});

const unique = {
  key: text(bounds.keyLength, 'The unique key'),
  periodMs: integer(
    bounds.periodMs,
    'How long the key is held, in milliseconds; by default, as long as the job is in one of `states`',
  ),
  states: Type.Array(Type.Enum([...jobStates]), {
    minItems: 1,
    maxItems: jobStates.length,
    description:
      'The states in which the job holds the key; by default, all unfinished ones. Finished states require `periodMs`',
  }),
};

/** The unique key of a job, as the API shows it. */
export const UniquenessItem = Type.Object(
  {
    key: unique.key,
    periodMs: nullable(
      integer(
        bounds.periodMs,
        'How long it holds the key after `createdAt`, in milliseconds; null if only `states` matter',
      ),
    ),
    states: Type.Array(Type.Enum([...jobStates]), {
      maxItems: jobStates.length,
      description: 'The states in which it holds the key',
    }),
    onConflict: Type.Enum([...conflictPolicies], {
      description: 'What was to happen if another job had held the key when this one was enqueued',
    }),
  },
  { description: 'The unique key that it was enqueued with; null if it had none' },
);

/** The unique key in a request body that enqueues a job. */
export const NewUniqueness = Type.Object(
  {
    key: unique.key,
    periodMs: Type.Optional(unique.periodMs),
    states: Type.Optional(unique.states),
    onConflict: Type.Optional(
      Type.Enum([...conflictPolicies], {
        description:
          'What happens if another job holds the key: `keep` (the default) returns that job, `replace` also gives it the new arguments, priority, time, attempts and tags unless it is running or finished, `reject` answers 409',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Creates no job while another one of this name in the queue holds the key; the response is that job or, with `reject`, 409',
  },
);

/** The unique key of the jobs of a recurring job, both in request bodies and as the API shows it, with its defaults filled in. */
export const RecurringUniqueness = Type.Object(
  {
    key: unique.key,
    periodMs: Type.Optional(nullable(unique.periodMs)),
    states: Type.Optional(unique.states),
    onConflict: Type.Optional(
      Type.Enum([...conflictPolicies], {
        description:
          'What happens to the job that holds the key: `keep` (the default) and `reject` leave it as it is, `replace` gives it the arguments, priority, attempts and tags of the new job unless it is running or finished',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'It enqueues no job while another one of this name in the queue holds the key; such due times are missed, and triggering it is a 409',
  },
);
