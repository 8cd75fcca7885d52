import type { JsonValue } from '@longshore/jobs';
import { type Bounds, bounds, namePattern, type PauseState, timeOfId } from '@longshore/jobs/storage';
import Type from 'typebox';

/** A point in time in RFC 3339 format. */
export const Time = Type.String({ format: 'date-time' });

/** The id of a job or a batch. */
export const Id = Type.String({
  format: 'uuid',
  description: 'A UUIDv7, assigned by the platform; IDs sort by time of creation',
});

/** The name of a job, a queue or a recurring job. */
export const Name = Type.String({ minLength: 1, maxLength: 100, pattern: namePattern });

/**
 * The id of a recurring job: a name, alone or followed by `@` and the queue whose keys own it. Code can only define names,
 * so nobody else can take the id of a recurring job that code defines.
 */
export const RecurringJobId = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: String.raw`^[A-Za-z0-9][\w.:-]{0,99}(@[A-Za-z0-9][\w.:-]{0,99})?$`,
});

/** A label of a job. */
export const Tag = text(bounds.tagLength);

/**
 * Any JSON value that can be stored. Lists all types, because some tools treat a schema without a type as incomplete.
 */
const anyJson = {
  type: ['string', 'number', 'boolean', 'object', 'array', 'null'],
  minLength: 0,
  pattern: String.raw`^[^\u0000]*$`,
  minItems: 0,
  items: {},
};

/**
 * Returns the schema of an object whose members can be any JSON values.
 * @param title the name of the schema in the OpenAPI document
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
 * Returns the schema of an integer within bounds. The platform enforces the same bounds for jobs enqueued without HTTP.
 */
export function integer({ min, max }: Bounds, description?: string): Type.TInteger {
  return Type.Integer({ minimum: min, maximum: max, ...(description !== undefined && { description }) });
}

/**
 * Returns the schema of a string whose length is within bounds. The platform enforces the same bounds for jobs enqueued
 * without HTTP.
 */
export function text({ min, max }: Bounds, description?: string): Type.TString {
  return Type.String({
    minLength: min,
    maxLength: max,
    ...(description !== undefined && { description }),
  });
}

export function nullable<Schema extends Type.TSchema>(
  schema: Schema,
  options: Type.TSchemaOptions = {},
): Type.TUnion<[Schema, Type.TNull]> {
  return Type.Union([schema, Type.Null()], options);
}

export const nullInExamples: Type.TSchemaOptions = { examples: [null] };

export function toTime(date: Date | null): string | null {
  return date?.toISOString() ?? null;
}

/**
 * Returns the creation time of a job or batch. The time is taken from the id, because lists are sorted and filtered by
 * id. Falls back to `createdAt` if the id contains no time.
 */
export function createdAtOf({ id, createdAt }: { readonly id: string; readonly createdAt: Date }): string {
  return (timeOfId(id) ?? createdAt).toISOString();
}

/** The fields of an item that describe its pause. Every resource whose items can be paused has these fields. */
export const pauseFields = {
  pausedAt: nullable(
    Type.String({ format: 'date-time', description: 'When it was paused; null if it is not' }),
  ),
  pausedBy: nullable(Type.String({ maxLength: 200, description: 'Who paused it; null if unknown' })),
  pauseReason: nullable(text(bounds.reasonLength, 'Why it was paused; null if no reason was given')),
  pausedUntil: nullable(
    Type.String({
      format: 'date-time',
      description: 'When it is resumed automatically; null if somebody has to resume it',
    }),
  ),
};

export const pauseFieldNames = ['pausedAt', 'pausedBy', 'pauseReason', 'pausedUntil'] as const;

export function toPauseItem({ pausedAt, pausedBy, pauseReason, pausedUntil }: PauseState) {
  return {
    pausedAt: toTime(pausedAt),
    pausedBy,
    pauseReason,
    pausedUntil: toTime(pausedUntil),
  };
}
