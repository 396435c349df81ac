import { asReference, invalid } from '../../http/errors.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { forceQuery, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { refuseWhileNamed } from '../configs/refuse-while-named.ts';
import { integrations } from '../integrations/entity.ts';
import { archiveIntegration } from '../integrations/service.ts';
import { createProviderFromBody } from '../providers/create-from-body.ts';
import { providers } from '../providers/entity.ts';
import { listProviders } from '../providers/list-providers.ts';
import { readProvider } from '../providers/read-provider.ts';
import { listQuery, readQuery, virtualKeyCreateBody, virtualKeyUpdateBody } from '../providers/schema.ts';
import { deleteProvider, findProvider, workspacesWithProvider } from '../providers/service.ts';
import { toReply } from '../providers/to-reply.ts';
import { updateProviderFromBody } from '../providers/update-from-body.ts';
import { createReply, listReply, migrateBody, migrateReply, readReply } from './schema.ts';

/** Routes of virtual keys, the older name of providers: each is a provider and the integration created for it. */
export const virtualKeyRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/virtual-keys',
    summary: 'List the virtual keys of a workspace, or of all (older name of providers)',
    reply: listReply,
    scopes: ['virtual_keys.list'],
    tenant: 'either',
    resource: 'virtual_keys',
    action: 'list',
    query: listQuery,
    body: null,
    handle: (call) => listProviders(call, toVirtualKey),
  }),
  defineRoute({
    method: 'POST',
    path: '/virtual-keys',
    summary: 'Add a virtual key: an integration and its provider in one',
    reply: createReply,
    scopes: ['virtual_keys.create'],
    tenant: 'workspace',
    resource: 'virtual_keys',
    action: 'create',
    query: tenantQuery,
    body: virtualKeyCreateBody,
    async handle(call) {
      const { organisationId, workspaceId, actor, body, services } = call;
      if (workspaceId === null) throw invalid('workspace_id: required');
      const made = await call.write((change) =>
        createProviderFromBody(change, services, actor, { organisationId, workspaceId }, body),
      );
      call.tag(made.revision);
      return { success: true, data: { slug: made.slug } };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/virtual-keys/migrate',
    workspacesWith: workspacesWithProvider,
    itemMember: 'virtual_key_id',
    summary: 'Read the integration of a virtual key',
    reply: migrateReply,
    scopes: ['virtual_keys.update'],
    tenant: 'workspace',
    resource: 'virtual_keys',
    action: 'migrate',
    query: tenantQuery,
    body: migrateBody,
    async handle(call) {
      // There is nothing to migrate: every virtual key is already a provider on an integration.
      return call.write(async (change) => {
        const { organisationId } = call;
        const named = findProvider(change.tx, call, call.body.virtual_key_id);
        const row = await named.catch(asReference('virtual_key_id', 'Virtual key'));
        const integration = await change.tx.findOne(integrations, { id: row.integrationId, organisationId });
        change.about(row);
        return { success: true, data: { slug: row.slug, integration_id: integration?.slug ?? row.integrationId } };
      });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/virtual-keys/:slug',
    workspacesWith: workspacesWithProvider,
    summary: 'Read a virtual key',
    reply: readReply,
    scopes: ['virtual_keys.read'],
    tenant: 'workspace',
    resource: 'virtual_keys',
    action: 'read',
    query: readQuery,
    body: null,
    async handle(call) {
      return readProvider(call, toVirtualKey, 'Virtual key');
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/virtual-keys/:slug',
    workspacesWith: workspacesWithProvider,
    summary: 'Change a virtual key, including its credential',
    reply: emptyReply,
    scopes: ['virtual_keys.update'],
    tenant: 'workspace',
    resource: 'virtual_keys',
    action: 'update',
    query: tenantQuery,
    body: virtualKeyUpdateBody,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findProvider(change.tx, call, call.params.slug ?? '', 'Virtual key');
        call.match(row);
        await updateProviderFromBody(change, call.services, call.actor, row, call.body);
      });
      return {};
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/virtual-keys/:slug',
    workspacesWith: workspacesWithProvider,
    summary: 'Delete a virtual key, and the credential that only it used',
    reply: emptyReply,
    scopes: ['virtual_keys.delete'],
    tenant: 'workspace',
    resource: 'virtual_keys',
    action: 'delete',
    query: forceQuery,
    body: null,
    async handle(call) {
      await call.write(async (change) => {
        const { tx } = change;
        const row = await findProvider(tx, call, call.params.slug ?? '', 'Virtual key');
        call.match(row);
        if (call.query.force !== 'true') await refuseWhileNamed(tx, call.actor, row);
        const { integrationId: id, organisationId } = row;
        const integration = await tx.findOne(integrations, { id, organisationId, status: 'active' });
        const shared = (await tx.count(providers, { integrationId: id })) > 1;
        deleteProvider(change, row);
        if (integration?.workspaceId && !shared) {
          await tx.flush();
          await archiveIntegration(change, integration, call.services.dependents);
        }
        change.about(row);
      });
      return {};
    },
  }),
];

function toVirtualKey(...shown: Parameters<typeof toReply>) {
  const { organisation_id: _, last_updated_at: __, key: ___, ...shared } = toReply(...shown);
  return { ...shared, object: 'virtual-key' };
}
