const form = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns whether a string is a `traceparent` as defined by W3C Trace Context (Level 1, § 3.2). */
export function isTraceparent(text: string): boolean {
  return form.test(text);
}

/** @throws {RangeError} if the text is not a valid `traceparent` */
export function checkTraceparent(text: string): void {
  if (!isTraceparent(text)) {
    throw new RangeError(
      'traceparent must have the form 00-<32 hex digits>-<16 hex digits>-<2 hex digits> (W3C Trace Context)',
    );
  }
}
