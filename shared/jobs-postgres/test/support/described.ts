import pg from 'pg';

/** What Postgres infers about a statement without running it: types as their ids in the catalog. */
export interface Described {
  readonly parameters: readonly number[];
  readonly columns: readonly (readonly [name: string, type: number])[];
}

interface ParameterDescription {
  readonly dataTypeIDs: readonly number[];
}

interface RowDescription {
  readonly fields: readonly pg.FieldDef[];
}

/** The parts of a connection that `pg` offers without, or with other, declarations. */
interface Protocol {
  once(event: 'parameterDescription', listener: (message: ParameterDescription) => void): void;
  parse(query: { readonly name: string; readonly text: string; readonly types: readonly number[] }): void;
  describe(what: { readonly type: 'S'; readonly name: string }): void;
  sync(): void;
}

/** Makes Postgres analyse a statement, without running it. Rejects if Postgres could not run the statement. */
export function described(client: pg.Client, text: string): Promise<Described> {
  return new Promise((resolve, reject) => {
    let parameters: readonly number[] = [];
    let columns: Described['columns'] = [];
    client.query({
      submit: (connection: unknown) => {
        const protocol = connection as Protocol;
        protocol.once('parameterDescription', ({ dataTypeIDs }) => {
          parameters = dataTypeIDs;
        });
        protocol.parse({ name: '', text, types: [] });
        protocol.describe({ type: 'S', name: '' });
        protocol.sync();
      },
      handleRowDescription: ({ fields }: RowDescription) => {
        columns = fields.map(({ name, dataTypeID }) => [name, dataTypeID]);
      },
      handleReadyForQuery: () => {
        resolve({ parameters, columns });
      },
      handleError: reject,
    });
  });
}
