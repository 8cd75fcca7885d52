/** The shop's tables: files for node-pg-migrate, and the schema that they are about. */
export const migrations = { directory: new URL('../migrations', import.meta.url), schema: 'shop' } as const;
