import { invalid } from '../../http/errors.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { forceQuery, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { refuseWhileNamed } from '../configs/refuse-while-named.ts';
import { createProviderFromBody } from './create-from-body.ts';
import { listProviders } from './list-providers.ts';
import { readProvider } from './read-provider.ts';
import { createReply, listReply, modelsReply, readReply, updateReply } from './reply-schema.ts';
import { createBody, listQuery, readQuery, updateBody } from './schema.ts';
import { deleteProvider, findProvider, workspacesWithProvider } from './service.ts';
import { toModelsDocument } from './to-models-document.ts';
import { toReply } from './to-reply.ts';
import { updateProviderFromBody } from './update-from-body.ts';

/** Routes of a workspace's providers. */
export const providerRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/providers',
    summary: 'List the providers of a workspace, or of all',
    reply: listReply,
    scopes: ['providers.list'],
    tenant: 'either',
    resource: 'providers',
    action: 'list',
    query: listQuery,
    body: null,
    handle: (call) => listProviders(call, toReply),
  }),
  defineRoute({
    method: 'POST',
    path: '/providers',
    summary: 'Add a provider on an integration',
    reply: createReply,
    scopes: ['providers.create'],
    tenant: 'workspace',
    resource: 'providers',
    action: 'create',
    query: tenantQuery,
    body: createBody,
    async handle(call) {
      const { organisationId, workspaceId, actor, body, services } = call;
      if (workspaceId === null) throw invalid('workspace_id: required');
      const made = await call.write((change) =>
        createProviderFromBody(change, services, actor, { organisationId, workspaceId }, body),
      );
      call.tag(made.revision);
      return { id: made.id, slug: made.slug, object: 'provider' };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/providers/models',
    summary: 'List the models of the providers of a workspace',
    reply: modelsReply,
    scopes: ['providers.list', 'virtual_keys.list', 'models.list'],
    tenant: 'workspace',
    resource: 'providers',
    action: 'list-models',
    query: tenantQuery,
    body: null,
    async handle(call) {
      const document = await toModelsDocument(call.em, call.workspaceId ?? '');
      const data = (document?.providers ?? []).flatMap(({ slug, provider, models }) =>
        models.map((model) => ({
          id: `@${slug}/${model.slug}`,
          slug: model.slug,
          canonical_slug: model.canonicalSlug ?? model.slug,
          provider: slug,
          ai_service: provider,
          object: 'model',
        })),
      );
      return { object: 'list', total: data.length, data };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/providers/:slug',
    workspacesWith: workspacesWithProvider,
    summary: 'Read a provider',
    reply: readReply,
    scopes: ['providers.read'],
    tenant: 'workspace',
    resource: 'providers',
    action: 'read',
    query: readQuery,
    body: null,
    async handle(call) {
      return readProvider(call, toReply);
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/providers/:slug',
    workspacesWith: workspacesWithProvider,
    summary: 'Change a provider',
    reply: updateReply,
    scopes: ['providers.update'],
    tenant: 'workspace',
    resource: 'providers',
    action: 'update',
    query: tenantQuery,
    body: updateBody,
    async handle(call) {
      return call.write(async (change) => {
        const row = await findProvider(change.tx, call, call.params.slug ?? '');
        call.match(row);
        await updateProviderFromBody(change, call.services, call.actor, row, call.body);
        return { id: row.id, slug: row.slug };
      });
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/providers/:slug',
    workspacesWith: workspacesWithProvider,
    summary: 'Delete a provider that no config names',
    reply: emptyReply,
    scopes: ['providers.delete'],
    tenant: 'workspace',
    resource: 'providers',
    action: 'delete',
    query: forceQuery,
    body: null,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findProvider(change.tx, call, call.params.slug ?? '');
        call.match(row);
        if (call.query.force !== 'true') await refuseWhileNamed(change.tx, call.actor, row);
        deleteProvider(change, row);
      });
      return {};
    },
  }),
];
