/** A JSON value, such as the arguments or the result of a job. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** A JSON document as text, already validated for storage. */
export type JsonText = string;
