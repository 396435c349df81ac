import { refusesMissingScopes } from '../../support/refusal-suites.ts';

refusesMissingScopes('providers', [
  { method: 'GET', path: '/providers' },
  { method: 'POST', path: '/providers', body: { name: 'x', integration_id: 'mock' } },
  { method: 'GET', path: '/providers/mock' },
  { method: 'PUT', path: '/providers/mock', body: {} },
  { method: 'DELETE', path: '/providers/mock' },
]);
