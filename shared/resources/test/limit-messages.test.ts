import { expect } from 'chai';
import Type, { type TSchema } from 'typebox';
import { validatorFor } from '../src/validation/validator.js';

const cases: readonly (readonly [schema: TSchema, value: unknown, expected: string])[] = [
  [Type.String({ minLength: 1 }), '', 'must not be empty'],
  [Type.String({ minLength: 3 }), 'ab', 'must have at least 3 characters'],
  [Type.String({ maxLength: 1 }), 'ab', 'must have at most 1 character'],
  [Type.Array(Type.Integer(), { minItems: 1 }), [], 'must not be empty'],
  [Type.Array(Type.Integer(), { maxItems: 2 }), [1, 2, 3], 'must have at most 2 items'],
  [
    Type.Array(Type.Integer(), { uniqueItems: true }),
    [1, 2, 1],
    'must not contain an item twice, as at 0 and 2',
  ],
  [
    Type.Record(Type.String(), Type.Integer(), { maxProperties: 1 }),
    { a: 1, b: 2 },
    'must have at most 1 member',
  ],
];

describe('A value that breaks a limit', () => {
  for (const [schema, value, expected] of cases)
    it(`${JSON.stringify(value)} ${expected}`, () => {
      expect(validatorFor(schema).explain(value)).to.deep.equal([expected]);
    });
});
