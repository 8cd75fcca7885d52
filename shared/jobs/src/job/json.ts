/** A JSON value: the only data that goes into and comes out of a job. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** A JSON document as text, already validated for storage. */
export type JsonText = string;
