import type { JsonValue } from '@longshore/jobs';
import { type Bounds, bounds, timeOfId } from '@longshore/jobs/storage';
import Type from 'typebox';

/** A point in time, RFC 3339. */
export const Time = Type.String({ format: 'date-time' });

/** The id of a job or a batch. */
export const Id = Type.String({
  format: 'uuid',
  description: 'A UUIDv7, assigned by the platform; IDs sort by time of creation',
});

/** The name of a job, a queue or a recurring job. */
export const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9][\\w.:-]{0,99}$' });

/** A label of a job. */
export const Tag = text(bounds.tagLength);

/** Any JSON that can be stored. Lists all types, because some tools treat a schema without a type as incomplete. */
const anyJson = {
  type: ['string', 'number', 'boolean', 'object', 'array', 'null'],
  minLength: 0,
  pattern: String.raw`^[^\u0000]*$`,
  minItems: 0,
  items: {},
};

/**
 * Returns the schema of an object whose members may be any JSON.
 * @param title the name of the schema in the document
 */
export function members(
  title: string,
  description: string,
): Type.TUnsafe<Readonly<Record<string, JsonValue>>> {
  return Type.Unsafe({ type: 'object', additionalProperties: anyJson, title, description });
}

export const Priority = integer(bounds.priority, 'Within a queue, lower numbers run first');

export const MaxAttempts = integer(
  bounds.maxAttempts,
  'How many attempts a job gets before it fails for good',
);

/** Maximum number of jobs per request. */
export const maxJobs = 10_000;

/**
 * Returns the schema of an integer within bounds that the platform also enforces for jobs that are not sent over HTTP.
 */
export function integer({ min, max }: Bounds, description?: string): Type.TInteger {
  return Type.Integer({ minimum: min, maximum: max, ...(description !== undefined && { description }) });
}

/**
 * Returns the schema of a text whose length is within bounds that the platform also enforces for jobs that are not sent
 * over HTTP.
 */
export function text({ min, max }: Bounds, description?: string): Type.TString {
  return Type.String({
    minLength: min,
    maxLength: max,
    ...(description !== undefined && { description }),
  });
}

/** Returns the schema of a field that is always present, and null if it has no value. */
export function nullable<Schema extends Type.TSchema>(
  schema: Schema,
  options: Type.TSchemaOptions = {},
): Type.TUnion<[Schema, Type.TNull]> {
  return Type.Union([schema, Type.Null()], options);
}

/** The options of a nullable field that is null in examples. */
export const nullInExamples: Type.TSchemaOptions = { examples: [null] };

export function toTime(date: Date | null): string | null {
  return date?.toISOString() ?? null;
}

/**
 * Returns when a job or batch was created, according to its id. Lists are sorted and filtered by the time in the id.
 * The time in the row is the start of the transaction, and transactions may have started in a different order.
 */
export function createdAtOf({ id, createdAt }: { readonly id: string; readonly createdAt: Date }): string {
  return (timeOfId(id) ?? createdAt).toISOString();
}
