import { refusesUnknownKeys } from '../../support/refusal-suites.ts';

refusesUnknownKeys('workspaces', [
  { method: 'GET', path: '/workspaces' },
  { method: 'POST', path: '/admin/workspaces', body: { name: 'x' } },
  { method: 'DELETE', path: '/workspaces/ws-default', body: { name: 'x' } },
]);
