/** An SQL statement. If it has a name, each connection prepares it once, so the same name must always mean the same text. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}
