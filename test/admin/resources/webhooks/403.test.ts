import { refusesMissingScopes } from '../../support/refusal-suites.ts';

refusesMissingScopes('webhooks', [
  { method: 'GET', path: '/webhooks' },
  { method: 'POST', path: '/webhooks', body: { name: 'x', url: 'https://a.example.com', events: ['policy.exhausted'] } },
  { method: 'GET', path: '/webhooks/any' },
  { method: 'PUT', path: '/webhooks/any', body: { name: 'y' } },
  { method: 'DELETE', path: '/webhooks/any' },
  { method: 'POST', path: '/webhooks/any/rotate-secret' },
  { method: 'POST', path: '/webhooks/any/test' },
  { method: 'GET', path: '/webhooks/any/deliveries' },
  { method: 'GET', path: '/webhooks/any/deliveries/any' },
  { method: 'POST', path: '/webhooks/any/deliveries/any/replay' },
]);
