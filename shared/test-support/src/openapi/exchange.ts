/** The parts of a request that are needed to check the response. */
export interface SentRequest {
  readonly method: string;
  /** The path with the query, percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export interface ReceivedAnswer {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}
