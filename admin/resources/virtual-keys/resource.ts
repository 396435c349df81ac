import { defineResource, slugOfReply } from '../../define-resource.ts';
import { virtualKeyRoutes } from './routes.ts';

/** The rows are those of integrations and providers. */
export const virtualKeysResource = defineResource({
  name: 'virtual-keys',
  after: ['providers'],
  routes: virtualKeyRoutes,
  samples: [
    {
      create: '/virtual-keys',
      item: '/virtual-keys/{slug}',
      list: '/virtual-keys',
      body: (tenant, made, n, mark) => ({
        workspace_id: tenant.workspaceId,
        name: `${mark} virtual key ${n}`,
        slug: `${mark}-virtual-key-${n}`,
        provider: 'openai',
        secret_mappings: [{ target_field: 'key', secret_reference_id: made['/secret-references'] }],
      }),
      update: (tenant, made, mark) => ({
        workspace_id: tenant.workspaceId,
        note: `${mark} changed`,
        secret_mappings: [{ target_field: 'key', secret_reference_id: made['/secret-references'], secret_key: mark }],
      }),
      ofWorkspace: true,
      idOf: slugOfReply,
    },
  ],
});
