import { refusesUnknownKeys } from '../../support/refusal-suites.ts';

refusesUnknownKeys('feedback', [
  { method: 'POST', path: '/feedback', body: { trace_id: 't', value: 1 } },
  { method: 'PUT', path: '/feedback/any', body: { value: 1 } },
]);
