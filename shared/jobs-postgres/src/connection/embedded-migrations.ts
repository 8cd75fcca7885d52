/**
 * The migrations of the job store, as SQL texts by file name, for programs that are bundled into a single file. Empty
 * in the repository; `make pack` fills it in.
 */
export const embeddedMigrations: Readonly<Record<string, string>> = {};
