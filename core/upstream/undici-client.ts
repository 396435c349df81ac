import { createRequire } from 'node:module';
import type { buildConnector as BuildConnector, Client as UndiciClient } from 'undici';

const require = createRequire(import.meta.url);

/**
 * Undici's client. It comes from its own file, because the index of undici also loads `fetch`, mocks and caches, and reads `globalThis.Headers`,
 * for which Node loads its own copy of undici.
 */
export const Client = require('undici/lib/dispatcher/client.js') as typeof UndiciClient;
export type Client = UndiciClient;

export const buildConnector = require('undici/lib/core/connect.js') as typeof BuildConnector;
