import { refusesUnknownKeys } from '../../support/refusal-suites.ts';

refusesUnknownKeys('providers', [
  { method: 'GET', path: '/providers' },
  { method: 'POST', path: '/providers', body: { name: 'x', integration_id: 'mock' } },
  { method: 'DELETE', path: '/providers/mock' },
]);
