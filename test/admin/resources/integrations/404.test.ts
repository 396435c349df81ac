import { hidesForeignItems } from '../../support/refusal-suites.ts';

hidesForeignItems(
  'integrations',
  async (plane) => {
    const body = { name: 'Mine', slug: 'mine', ai_provider_id: 'openai', key: 'sk-0123456789abcdef' };
    return [(await plane.ask('POST', '/integrations', { body })).body.id, 'mine'];
  },
  (name) => [
    { method: 'GET', path: `/integrations/${name}` },
    { method: 'PUT', path: `/integrations/${name}`, body: { name: 'Stolen' } },
    { method: 'DELETE', path: `/integrations/${name}` },
  ],
);
