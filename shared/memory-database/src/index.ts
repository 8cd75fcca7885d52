export { MemoryDatabase, type MemoryDatabaseMigrations } from './memory-database.js';
