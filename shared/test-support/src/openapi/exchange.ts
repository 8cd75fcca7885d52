/** The parts of a request that determine what its response must be. */
export interface SentRequest {
  readonly method: string;
  /** The path with the query, percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export interface ReceivedAnswer {
  readonly status: number;
  /** Header values by name; the names are in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}
