/** What JSON can carry: the only things that go into a job and come out of it. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** A JSON document as text, already checked to be storable. */
export type JsonText = string;
