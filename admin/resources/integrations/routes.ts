import { raw } from '@mikro-orm/core';
import { canonicalProviderId, declarationOf } from '../../../core/providers/declarations.ts';
import { levelScopes } from '../../access/level-scopes.ts';
import { findPage } from '../../db/find-page.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { invalid } from '../../http/errors.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { withTags } from '../../http/filters/with-tags.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf, requireUnchanged, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { namedAsSent } from './configurations/as-sent.ts';
import { checkHosts } from './configurations/check-hosts.ts';
import { integrations, integrationWorkspaces } from './entity.ts';
import { createReply, listReply, readReply } from './reply-schema.ts';
import { createBody, listQuery, updateBody } from './schema.ts';
import { mappingsOfNew } from './secret-mappings/mapping-rights.ts';
import { mappingsToChange } from './secret-mappings/secret-mappings.ts';
import {
  archiveIntegration,
  createIntegration,
  findOwnIntegration,
  findReadableIntegration,
  requireFreeSlug,
  requireOwner,
  updateIntegration,
} from './service.ts';
import { createProvider } from './sharing/create-provider.ts';
import { toOwnReply, toRow, toSharedReply } from './to-reply.ts';

const scopes = levelScopes('integrations');

/** Routes of stored accounts at providers. */
export const integrationRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/integrations',
    summary: 'List stored accounts at providers: those of the organisation, then those of workspaces, each newest first',
    reply: listReply,
    scopes: scopes('list'),
    tenant: 'either',
    resource: 'integrations',
    action: 'list',
    query: listQuery,
    body: null,
    async handle(call) {
      const { organisationId, workspaceId, query, em } = call;
      const ofOrganisation = { workspaceId: null };
      const ofWorkspaces = workspaceId === null ? { workspaceId: { $ne: null } } : { workspaceId };
      const kinds =
        query.type === 'all' ? [ofOrganisation, ofWorkspaces] : [query.type === 'workspace' ? ofWorkspaces : ofOrganisation];
      const visible = workspaceId === null ? {} : { $or: [{ workspaceId }, ...(await sharedTo(em, workspaceId))] };
      const isOfWorkspace = raw((alias) => `${alias}.workspace_id is not null`);
      const [rows, total] = await findPage(
        em,
        integrations,
        {
          $and: [
            { organisationId, status: 'active' },
            { $or: kinds },
            visible,
            withTags(query.tags),
            searchIn(query.search, 'name', 'slug'),
          ],
        },
        // Clients expect that the first entry can be shared, so integrations of the organisation come first.
        { ...pageOf(query), orderBy: [{ [isOfWorkspace]: 'asc' }, { createdAt: 'desc' }, { id: 'asc' }] },
      );
      return { object: 'list', total, data: rows.map(toRow) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/integrations',
    summary: 'Store an account at a provider. Without `workspace_id` it gets no provider: share it, or create one',
    reply: createReply,
    scopes: scopes('create'),
    tenant: 'either',
    resource: 'integrations',
    action: 'create',
    query: tenantQuery,
    body: createBody,
    async handle(call) {
      const { organisationId, workspaceId, actor, body, services } = call;
      requireOwner(actor, workspaceId, 'create');
      call.unused(...unusedIn(typeOf(body), body.configurations));
      if (workspaceId === null) call.unused(...providerFieldsOf(body));
      const configurations = { ...body.configurations, ...body.credentials };
      const create = () =>
        call.write(async (change) => {
          checkHosts(services.settings, configurations);
          await requireFreeSlug(change.tx, organisationId, body.slug);
          const scope = { organisationId, workspaceId, aiProviderId: canonicalProviderId(typeOf(body)), configurations };
          const mapped = await mappingsOfNew(change.tx, actor, scope, body.secret_mappings, 'configurations');
          const integration = await createIntegration(change, services.vault, {
            ...scope,
            name: body.name,
            slug: body.slug,
            key: body.key ?? null,
            description: body.description ?? null,
            mapped,
            pricingAdjustments: body.pricing_adjustments,
            tags: body.tags,
          });
          if (workspaceId !== null && body.create_default_provider !== false) {
            const slug = body.default_provider_slug ?? integration.slug;
            await createProvider(
              change,
              { organisationId, workspaceId },
              { name: body.name, slug, integrationId: integration.id },
            );
            change.about(integration);
          }
          return integration;
        });
      const made = await namedAsSent(body, create);
      call.tag(made.revision);
      return { id: made.id, slug: made.slug, object: 'integration' };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/integrations/:slug',
    summary: 'Read an integration, its secrets masked',
    reply: readReply,
    scopes: scopes('read'),
    tenant: 'either',
    resource: 'integrations',
    action: 'read',
    query: tenantQuery,
    body: null,
    async handle(call) {
      const row = await findReadableIntegration(call.em, call, call.params.slug ?? '');
      call.tag(row.revision);
      return call.workspaceId !== null && !row.workspaceId ? toSharedReply(row) : toOwnReply(call.em, row);
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/integrations/:slug',
    summary: 'Change an integration',
    reply: emptyReply,
    scopes: scopes('update'),
    tenant: 'either',
    resource: 'integrations',
    action: 'update',
    query: tenantQuery,
    body: updateBody,
    async handle(call) {
      const update = () =>
        call.write(async (change) => {
          const row = await findOwnIntegration(change.tx, call, call.params.slug ?? '', 'for update');
          requireOwner(call.actor, row.workspaceId ?? null, 'update');
          call.match(row);
          const { credentials, status, slug, ai_provider_id: type, secret_mappings: sent, ...body } = call.body;
          requireUnchanged('slug', slug, row.slug);
          call.unused(...unusedIn(row.aiProviderId, body.configurations));
          requireUnchanged('ai_provider_id', type && canonicalProviderId(type), row.aiProviderId);
          const configurations = credentials === undefined ? body.configurations : { ...body.configurations, ...credentials };
          checkHosts(call.services.settings, configurations);
          const mapped = await mappingsToChange(change.tx, row, sent, 'configurations');
          await updateIntegration(change, call.services.vault, call.actor, row, { ...body, configurations, mapped });
          if (status === 'archived') await archiveIntegration(change, row, call.services.dependents);
        });
      await namedAsSent(call.body, update);
      return {};
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/integrations/:slug',
    summary: 'Archive an integration; its providers stop working',
    reply: emptyReply,
    scopes: scopes('delete'),
    tenant: 'either',
    resource: 'integrations',
    action: 'delete',
    query: tenantQuery,
    body: null,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findOwnIntegration(change.tx, call, call.params.slug ?? '', 'for update');
        requireOwner(call.actor, row.workspaceId ?? null, 'delete');
        call.match(row);
        await archiveIntegration(change, row, call.services.dependents);
      });
      return {};
    },
  }),
];

/** Names of the fields that ask for a provider, which an integration of the organisation gets only when it is shared. */
function providerFieldsOf(body: {
  readonly create_default_provider?: boolean;
  readonly default_provider_slug?: string;
}): string[] {
  return [
    ...(body.create_default_provider === true ? ['create_default_provider'] : []),
    ...(body.default_provider_slug === undefined ? [] : ['default_provider_slug']),
  ];
}

/** Settings that were sent and have no effect. */
function unusedIn(type: string, configurations: Record<string, unknown> | null | undefined): readonly string[] {
  const known = Object.entries(declarationOf(type)?.settings ?? {});
  return known.flatMap(([name, { unused }]) => (unused && configurations?.[name] === true ? [`configurations.${name}`] : []));
}

function typeOf(body: { readonly ai_provider_id?: string | undefined; readonly integration_id?: string | undefined }): string {
  const { ai_provider_id: type, integration_id: other } = body;
  const named = type ?? other;
  if (named === undefined) throw invalid('ai_provider_id: required');
  if (other !== undefined && canonicalProviderId(other) !== canonicalProviderId(named)) {
    throw invalid('integration_id: has another provider type than ai_provider_id');
  }
  return named;
}

/** Routes that list the organisation's integrations for a workspace: those shared with it. */
async function sharedTo(em: EntityManager, workspaceId: string) {
  const decided = await em.find(integrationWorkspaces, { workspaceId });
  const idsOf = (enabled: boolean) => decided.filter((row) => row.enabled === enabled).map((row) => row.integrationId);
  return [{ id: { $in: idsOf(true) } }, { globalWorkspaceAccess: true, id: { $nin: idsOf(false) } }];
}
