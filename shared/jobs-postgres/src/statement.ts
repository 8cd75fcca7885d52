/** One with a name is prepared once in each connection, so one name must always have the same text. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}
