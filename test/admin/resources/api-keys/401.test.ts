import { refusesUnknownKeys } from '../../support/refusal-suites.ts';

refusesUnknownKeys('API keys', [
  { method: 'GET', path: '/api-keys' },
  { method: 'POST', path: '/api-keys/organisation/service', body: { name: 'k', scopes: ['configs.list'] } },
  { method: 'POST', path: '/api-keys/any/rotate', body: {} },
]);
