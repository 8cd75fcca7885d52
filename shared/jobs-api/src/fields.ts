import { type Bounds, bounds, timeOfId } from '@longshore/jobs/storage';
import Type from 'typebox';

/** A point in time, RFC 3339. */
export const Time = Type.String({ format: 'date-time' });

/** The id of a job or a batch. */
export const Id = Type.String({
  format: 'uuid',
  description: 'A UUIDv7, assigned by the platform; ids sort by time of creation',
});

/** The name of a job, a queue or a recurring job. */
export const Name = Type.String({ pattern: '^[A-Za-z0-9][\\w.:-]{0,99}$' });

export const Priority = integer(bounds.priority, 'Within a queue, lower numbers run first');

export const MaxAttempts = integer(
  bounds.maxAttempts,
  'How many attempts a job gets before it fails for good',
);

/** The largest number of jobs in one request. */
export const maxJobs = 10_000;

/** Returns the schema of an integer with these bounds, which also apply to values that do not come through HTTP. */
export function integer({ least, most }: Bounds, description?: string): Type.TInteger {
  return Type.Integer({ minimum: least, maximum: most, ...(description !== undefined && { description }) });
}

/** Returns the schema of a text whose length has these bounds, which also apply to values that do not come through HTTP. */
export function text({ least, most }: Bounds, description?: string): Type.TString {
  return Type.String({
    minLength: least,
    maxLength: most,
    ...(description !== undefined && { description }),
  });
}

/** Returns the schema of a field that is always present, and null if it has no value. */
export function nullable<Schema extends Type.TSchema>(schema: Schema): Type.TUnion<[Schema, Type.TNull]> {
  return Type.Union([schema, Type.Null()]);
}

export function toTime(date: Date | null): string | null {
  return date?.toISOString() ?? null;
}

/**
 * Returns when a job or batch was created, according to its id, because lists are sorted and filtered by the time in the
 * id. The time in the row is when the transaction began, and transactions may have begun in a different order.
 */
export function createdAtOf({ id, createdAt }: { readonly id: string; readonly createdAt: Date }): string {
  return (timeOfId(id) ?? createdAt).toISOString();
}
