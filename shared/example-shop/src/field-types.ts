import Type, { type TNull, type TSchema, type TString, type TUnion } from 'typebox';

/** A line of text for people, at most `maxLength` characters. */
export function line(maxLength: number): TString {
  return Type.String({ minLength: 1, maxLength });
}

/** A field that is always present and may have no value: null, which is also what bodies that leave it out mean. */
export function nullable<Schema extends TSchema>(schema: Schema): TUnion<[Schema, TNull]> {
  return Type.Union([schema, Type.Null()], { default: null });
}

export const id = Type.String({ format: 'uuid' });

export const time = Type.String({ format: 'date-time' });

/** An amount of money with two decimals. */
export const money = Type.Number({ minimum: 0, maximum: 99_999_999.99, examples: [19.9] });

/** A sum of such amounts; the maximum is that of its column. */
export const sumOfMoney = Type.Number({ minimum: 0, maximum: 9_999_999_999.99, examples: [59.7] });
