/** A JSON value. The arguments and the result of a job consist of nothing else. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** A JSON document as text, already validated for storage. */
export type JsonText = string;
