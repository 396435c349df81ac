import { defineResource, slugOfReply } from '../../define-resource.ts';
import { forgetAttempts } from '../../sign-in/attempts.ts';
import { ssoCallbackRoutes } from './callback-route.ts';
import { externalIdentities, samlAssertions, signInAttempts, ssoConnections } from './entity.ts';
import { SingleSignOn } from './migrations/202611230245-single-sign-on.ts';
import { SamlAssertions } from './migrations/202611230340-saml-assertions.ts';
import { SamlMetadata } from './migrations/202611230700-saml-metadata.ts';
import { SamlMetadataValidity } from './migrations/202611282130-saml-metadata-validity.ts';
import { ssoProviderRoutes } from './provider-routes.ts';
import { refreshMetadata, refreshMetadataKind } from './refresh-metadata.ts';
import { ssoConnectionRoutes } from './routes.ts';
import { samlLogoutRoutes } from './saml-logout-routes.ts';
import { samlRoutes } from './saml-routes.ts';
import { ssoUserRoutes } from './user-routes.ts';

export const ssoConnectionsResource = defineResource({
  name: 'sso-connections',
  after: ['users'],
  entities: [ssoConnections, externalIdentities, signInAttempts, samlAssertions],
  migrations: [
    { name: '202611230245-single-sign-on', class: SingleSignOn },
    { name: '202611230340-saml-assertions', class: SamlAssertions },
    { name: '202611230700-saml-metadata', class: SamlMetadata },
    { name: '202611282130-saml-metadata-validity', class: SamlMetadataValidity },
  ],
  routes: [...ssoConnectionRoutes, ...ssoUserRoutes],
  publicRoutes: [...samlRoutes, ...samlLogoutRoutes, ...ssoCallbackRoutes, ...ssoProviderRoutes],
  jobs: [{ kind: refreshMetadataKind, handler: refreshMetadata }],
  housekeeping: [
    {
      name: 'delete ids of expired SAML assertions',
      run: ({ database, clock }) => database.em().nativeDelete(samlAssertions, { expiresAt: { $lte: new Date(clock.now()) } }),
    },
    {
      name: 'delete sign-ins that were not finished',
      run: ({ database, clock }) => forgetAttempts(database.em(), new Date(clock.now())),
    },
  ],
  samples: [
    {
      create: '/admin/sso-connections',
      item: '/admin/sso-connections/{ssoConnectionId}',
      list: '/admin/sso-connections',
      body: (_, __, n, mark) => ({
        name: `${mark} connection ${n}`,
        slug: `${mark}-connection-${n}`,
        type: 'oidc',
        oidc: { issuer: 'https://id.example.com', client_id: `${mark}-${n}`, client_secret: 'a secret of the provider' },
      }),
      update: (_, __, mark) => ({ name: `${mark} changed` }),
      ofWorkspace: false,
      idOf: slugOfReply,
    },
  ],
});
