/**
 * Time limits for tests of anything else, as options of a `PostgresStorage` and of a `JobServer`. By default, a machine
 * that is slow or busy for a few seconds would run into these limits, and fail tests that are not about them.
 */
const hourMs = 3_600_000;

/** Options of a `PostgresStorage` whose reads, searches and connections may take an hour, and whose Postgres may be silent for as long. */
export const patientStorage = {
  connectTimeoutMs: hourMs,
  silenceTimeoutMs: hourMs,
  readTimeoutMs: hourMs,
  searchTimeoutMs: hourMs,
} as const;

/** Options of a `JobServer` that counts as alive, and whose running jobs may finish, for an hour. */
export const patientServer = {
  serverTimeoutMs: hourMs,
  slidingInvisibilityTimeoutMs: hourMs,
  stopTimeoutMs: hourMs,
} as const;
