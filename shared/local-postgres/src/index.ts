export { commandLine } from './lock-file.js';
export { freePort } from './free-port.js';
export {
  runningPostgresUrl,
  startLocalPostgres,
  type LocalPostgres,
  type LocalPostgresOptions,
} from './local-postgres.js';
