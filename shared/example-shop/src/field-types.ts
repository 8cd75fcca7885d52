import Type, { type TNull, type TSchema, type TString, type TUnion } from 'typebox';

/** Returns the schema of a short display text with 1 to `maxLength` characters. */
export function line(maxLength: number): TString {
  return Type.String({ minLength: 1, maxLength });
}

/** Makes a schema nullable. Responses always contain the field; if a request omits it, the value is `null`. */
export function nullable<Schema extends TSchema>(schema: Schema): TUnion<[Schema, TNull]> {
  return Type.Union([schema, Type.Null()], { default: null });
}

export const id = Type.String({ format: 'uuid' });

export const email = Type.String({ format: 'email', maxLength: 254 });

export const time = Type.String({ format: 'date-time' });

/** An amount of money. The maximum is the largest value that the database column can hold. */
export const money = Type.Number({ minimum: 0, maximum: 99_999_999.99, examples: [19.9] });

/** A total of several amounts of money. The maximum is the largest value that the database column can hold. */
export const sumOfMoney = Type.Number({ minimum: 0, maximum: 9_999_999_999.99, examples: [59.7] });
