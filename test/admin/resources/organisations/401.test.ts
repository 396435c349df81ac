import { refusesUnknownKeys } from '../../support/refusal-suites.ts';

refusesUnknownKeys('organisations', [
  { method: 'GET', path: '/organisations/self' },
  { method: 'PUT', path: '/organisations/self', body: { name: 'x' } },
  { method: 'PUT', path: '/admin/organisation/defaults', body: { input_guardrails: [] } },
]);
