export { PostgresStorage, type PostgresStorageOptions } from './postgres-storage.js';
