import * as v from 'valibot';
import { scopesByType } from '../../access/scopes.ts';
import { findPage } from '../../db/find-page.ts';
import { forbidden, notFound } from '../../http/errors.ts';
import { success } from '../../http/reply/reply-schemas.ts';
import { pageEntries, pageOf, tenantEntries, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { apiKeys } from '../api-keys/entity.ts';
import { apiKeyReply, toReply } from '../api-keys/to-reply.ts';
import { integrations } from '../integrations/entity.ts';
import { organisations } from '../organisations/entity.ts';
import { organisationReply } from '../organisations/schema.ts';
import { toOrganisation } from '../organisations/to-reply.ts';
import { providers } from '../providers/entity.ts';

/** Every key may read its own identity. */
const anyScope = [...new Set(Object.values(scopesByType).flatMap((scopes) => [...scopes]))];

const caller = v.strictObject({
  type: v.picklist(['organisation-service', 'workspace-service', 'workspace-user', 'session']),
  organisation_id: v.string(),
  workspace_id: v.nullable(v.string()),
  user_id: v.nullable(v.string()),
});

const { settings, security_settings, data_plane_security_settings, export_settings, override_settings } =
  organisationReply.entries.data.entries;
const configReply = v.strictObject({
  settings,
  security_settings,
  data_plane_security_settings,
  export_settings,
  override_settings,
});

const slugReply = v.strictObject({
  slug: v.string(),
  name: v.string(),
  ai_provider_id: v.string(),
  workspace_id: v.string(),
});

/** Routes with short facts about the actor and their organisation. */
export const organisationUtilityRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/utils/test-auth',
    scopes: anyScope,
    signedIn: 'suffices',
    tenant: 'either',
    resource: 'api_keys',
    action: 'read',
    summary: 'Check a key or session and return its owner',
    reply: success(caller),
    query: tenantQuery,
    body: null,
    async handle({ actor }) {
      const { type, organisationId: organisation_id, workspaceId: workspace_id, userId: user_id } = actor;
      return { success: true, data: { type: actor.session ? 'session' : type, organisation_id, workspace_id, user_id } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/organisation/api-key',
    scopes: anyScope,
    tenant: 'either',
    resource: 'api_keys',
    action: 'read',
    summary: 'Read the API key of this request',
    reply: success(apiKeyReply),
    query: tenantQuery,
    body: null,
    async handle({ actor, em, organisationId, tag }) {
      if (actor.session) throw forbidden('This route requires an API key');
      const row = await em.findOne(apiKeys, { id: actor.keyId, organisationId });
      if (!row) throw notFound('API key');
      tag(row.revision);
      return { success: true, data: toReply(row) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/organisation/config',
    scopes: ['organisation_settings.read'],
    signedIn: 'suffices',
    tenant: 'organisation',
    resource: 'organisations',
    action: 'read',
    summary: 'Read the settings of the organisation',
    reply: success(configReply),
    query: tenantQuery,
    body: null,
    async handle({ em, organisationId, tag }) {
      const row = await em.findOneOrFail(organisations, { id: organisationId });
      tag(row.revision);
      const all = toOrganisation(row);
      return {
        success: true,
        data: {
          settings: all.settings,
          security_settings: all.security_settings,
          data_plane_security_settings: all.data_plane_security_settings,
          export_settings: all.export_settings,
          override_settings: all.override_settings,
        },
      };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/organisation/ai-providers/slug',
    scopes: ['providers.list', 'virtual_keys.list'],
    tenant: 'either',
    resource: 'providers',
    action: 'list',
    summary: 'List the slugs of providers',
    reply: v.strictObject({ object: v.literal('list'), total: v.number(), data: v.array(slugReply) }),
    query: v.strictObject({ ...tenantEntries, ...pageEntries }),
    body: null,
    async handle({ em, organisationId, workspaceId, query }) {
      const where = { organisationId, ...(workspaceId === null ? {} : { workspaceId }) };
      const orderBy = { slug: 'asc', id: 'asc' } as const;
      const [rows, total] = await findPage(em, providers, where, { ...pageOf(query), orderBy });
      const behind = await em.find(integrations, { organisationId, id: { $in: rows.map((row) => row.integrationId) } });
      const data = rows.flatMap(({ slug, name, integrationId, workspaceId: workspace_id }) => {
        const integration = behind.find((one) => one.id === integrationId);
        return integration ? [{ slug, name, ai_provider_id: integration.aiProviderId, workspace_id }] : [];
      });
      return { object: 'list', total, data };
    },
  }),
];
