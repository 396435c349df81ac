import { hidesForeignItems } from '../../support/refusal-suites.ts';

hidesForeignItems(
  'webhooks',
  async (plane) => {
    const body = { name: 'Mine', slug: 'mine', url: 'https://a.example.com', events: ['policy.exhausted'] };
    return [(await plane.ask('POST', '/webhooks', { body })).body.id, 'mine'];
  },
  (name) => [
    { method: 'GET', path: `/webhooks/${name}` },
    { method: 'PUT', path: `/webhooks/${name}`, body: { name: 'Stolen' } },
    { method: 'POST', path: `/webhooks/${name}/rotate-secret` },
    { method: 'POST', path: `/webhooks/${name}/test` },
    { method: 'GET', path: `/webhooks/${name}/deliveries` },
    { method: 'DELETE', path: `/webhooks/${name}` },
  ],
);
