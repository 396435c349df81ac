import { defineResource, slugOfReply } from '../../define-resource.ts';
import { secretReferences } from './entity.ts';
import { SecretReferences } from './migrations/0017-secret-references.ts';
import { secretReferenceRoutes } from './routes.ts';
import { forgetWorkspace } from './service.ts';

export const secretReferencesResource = defineResource({
  name: 'secret-references',
  after: ['workspaces'],
  entities: [secretReferences],
  migrations: [{ name: '0017-secret-references', class: SecretReferences }],
  routes: secretReferenceRoutes,
  dependents: { workspace: [{ what: 'uses of secret references', remove: forgetWorkspace }] },
  samples: [
    {
      create: '/secret-references',
      item: '/secret-references/{secretReferenceId}',
      list: '/secret-references',
      body: (tenant, _, n, mark) => ({
        name: `${mark} secret reference ${n}`,
        slug: `${mark}-secret-reference-${n}`,
        manager_type: 'hashicorp_vault',
        auth_config: {
          vault_auth_type: 'token',
          vault_addr: 'https://vault.example.com',
          vault_token: `hvs.${mark}-secret-${n}`,
        },
        secret_path: 'secret/data/models',
        allowed_workspaces: [tenant.workspaceId],
      }),
      update: (tenant, _, mark) => ({ description: `${mark} changed`, allowed_workspaces: [tenant.workspaceId] }),
      ofWorkspace: false,
      idOf: slugOfReply,
    },
  ],
});
