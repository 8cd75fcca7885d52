/** Who calls, as the credentials hook tells. */
export interface Principal {
  /** Appears in logs; never a secret. */
  readonly name: string;
  /** What it may do. `admin` allows everything and shows stack traces; which scope a call needs, `scopeOf` tells. */
  readonly scopes: readonly string[];
  /** The only values of the field named in `confinement` that exist for this caller; undefined for no such bounds. */
  readonly confinedTo?: readonly string[];
}

/** A request without any web framework in it. */
export interface ApiRequest {
  /** Upper case. */
  readonly method: string;
  /** The raw path, still percent-encoded. */
  readonly path: string;
  /** The raw query string without `?`; '' if none. */
  readonly query: string;
  /** Names in lower case; repeated headers joined as Node joins them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly id: string;
  /** The caller's network address. */
  readonly address: string;
  /** Aborts when the caller goes away, or when the answer has been sent. */
  readonly signal: AbortSignal;
  /**
   * Reads and parses the JSON body, once, when the stages before it have passed; undefined if it is empty.
   * Throws an ApiError: 40001 malformed, 41301 too large, 41501 encoding not supported.
   */
  readonly readBody: () => Promise<unknown>;
}

export interface ApiResponse {
  readonly status: number;
  /** Names in lower case. `content-type` defaults to `application/json; charset=utf-8`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Serialised as JSON unless it is a string or a stream; a stream is sent as it comes. undefined for no body. */
  readonly body?: unknown;
}
