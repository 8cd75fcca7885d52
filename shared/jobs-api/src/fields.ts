import { type Bounds, bounds } from '@longshore/jobs/storage';
import Type from 'typebox';

/** A point in time, RFC 3339. */
export const Time = Type.String({ format: 'date-time' });

/** The identity of a job, a batch or a server. */
export const Id = Type.String({ format: 'uuid', description: 'UUIDv7: sorts by the time of creation' });

/** Names a job, a queue or a recurring job. */
export const Name = Type.String({ pattern: '^[A-Za-z0-9][\\w.:-]{0,99}$' });

export const Priority = integer(bounds.priority, 'Lower runs first');

export const MaxAttempts = integer(bounds.maxAttempts);

/** An integer of the bounds that every entrance of the platform has. */
export function integer({ least, most }: Bounds, description?: string): Type.TInteger {
  return Type.Integer({ minimum: least, maximum: most, ...(description !== undefined && { description }) });
}

/** A text of as many characters. */
export function text({ least, most }: Bounds, description?: string): Type.TString {
  return Type.String({
    minLength: least,
    maxLength: most,
    ...(description !== undefined && { description }),
  });
}

/** A field that is always there and may hold nothing. */
export function nullable<Schema extends Type.TSchema>(schema: Schema): Type.TUnion<[Schema, Type.TNull]> {
  return Type.Union([schema, Type.Null()]);
}

export function toTime(date: Date | null): string | null {
  return date?.toISOString() ?? null;
}
