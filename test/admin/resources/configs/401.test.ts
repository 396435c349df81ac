import { refusesUnknownKeys } from '../../support/refusal-suites.ts';

refusesUnknownKeys('configs', [
  { method: 'GET', path: '/configs' },
  { method: 'POST', path: '/configs', body: { name: 'x', config: {} } },
  { method: 'PUT', path: '/configs/any', body: { name: 'y' } },
]);
