import { defineResource, idOfReply } from '../../define-resource.ts';
import { scimTokens } from './entity.ts';
import { ScimTokens } from './migrations/202611230245-scim-tokens.ts';
import { scimTokenRoutes } from './routes.ts';

export const scimTokensResource = defineResource({
  name: 'scim-tokens',
  after: ['organisations'],
  entities: [scimTokens],
  migrations: [{ name: '202611230245-scim-tokens', class: ScimTokens }],
  routes: scimTokenRoutes,
  samples: [
    {
      create: '/scim/tokens',
      item: '/scim/tokens/{scimTokenId}',
      list: '/scim/tokens',
      body: (_, __, n, mark) => ({ name: `${mark} directory ${n}` }),
      update: () => null,
      ofWorkspace: false,
      idOf: idOfReply,
    },
  ],
});
