import { hidesForeignItems } from '../../support/refusal-suites.ts';

hidesForeignItems(
  'configs',
  async (plane) => {
    const body = { name: 'Mine', slug: 'mine', config: { provider: '@mock' } };
    return [(await plane.ask('POST', '/configs', { body })).body.data.id, 'mine'];
  },
  (name) => [
    { method: 'GET', path: `/configs/${name}` },
    { method: 'PUT', path: `/configs/${name}`, body: { name: 'Stolen' } },
    { method: 'DELETE', path: `/configs/${name}` },
    { method: 'GET', path: `/configs/${name}/versions` },
  ],
);
