/**
 * Maps the file names of the job store's migrations to their SQL texts, for programs bundled into a single file. Empty
 * in the repository; `make pack` fills it in.
 */
export const embeddedMigrations: Readonly<Record<string, string>> = {};
