/** A request, independent of any web framework. */
export interface ApiRequest {
  /** The method in upper case. */
  readonly method: string;
  /** The raw path, still percent-encoded. */
  readonly path: string;
  /** The raw query string without `?`; empty if there is none. */
  readonly query: string;
  /** Headers by lower-case name. Repeated headers are joined as Node.js joins them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly id: string;
  /** The caller's network address. */
  readonly address: string;
  /** Aborts when the caller disconnects or the response has been sent. */
  readonly signal: AbortSignal;
  /**
   * Reads and parses the JSON body. Can be called only once. Resolves to undefined if the body is empty.
   * @throws {ApiError} 40001 if the body is malformed, 41301 if it is too large, 41501 if its encoding is not supported
   */
  readonly readBody: () => Promise<unknown>;
}

export interface ApiResponse {
  readonly status: number;
  /** Headers by lower-case name. `content-type` defaults to `application/json; charset=utf-8`. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Strings, streams and buffers are sent unchanged, other values as JSON. If undefined, the response has no body. With
   * status 304, this is the body of the 200 that the response stands for; it is not sent.
   */
  readonly body?: unknown;
}
