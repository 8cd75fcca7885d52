export { startApi } from './api-service.js';
export { type ApiConfig, readApiConfig } from './config.js';
export { createKey } from './create-key.js';
export { seedTables } from './seed.js';
