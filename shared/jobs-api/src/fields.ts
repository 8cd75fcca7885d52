import Type from 'typebox';

/** A point in time, RFC 3339. */
export const Time = Type.String({ format: 'date-time' });

/** The identity of a job, a batch or a server. */
export const Id = Type.String({ format: 'uuid', description: 'UUIDv7: sorts by the time of creation' });

/** Names a job, a queue or a recurring job. */
export const Name = Type.String({ pattern: '^[A-Za-z0-9][\\w.:-]{0,99}$' });

export const Priority = Type.Integer({
  minimum: -32_768,
  maximum: 32_767,
  description: 'Lower runs first',
});

export const MaxAttempts = Type.Integer({ minimum: 1, maximum: 1_000 });

/** A field that is always there and may hold nothing. */
export function nullable<Schema extends Type.TSchema>(schema: Schema): Type.TUnion<[Schema, Type.TNull]> {
  return Type.Union([schema, Type.Null()]);
}

export function toTime(date: Date | null): string | null {
  return date?.toISOString() ?? null;
}
