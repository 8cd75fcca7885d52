/** A request, as far as its response depends on it. */
export interface SentRequest {
  readonly method: string;
  /** With the query, encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export interface ReceivedAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}
