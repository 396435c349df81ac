import * as v from 'valibot';
import { scopesByType } from '../../access/scopes.ts';
import { forbidden, notFound } from '../../http/errors.ts';
import { defineRoute } from '../../http/route.ts';
import { organisations } from '../organisations/entity.ts';
import { workspaces } from '../workspaces/entity.ts';
import { apiKeys } from './entity.ts';
import { detailsQuery } from './schema.ts';
import { apiKeyReply, toReply } from './to-reply.ts';

const organisationDetails = v.strictObject({ id: v.string(), name: v.string() });

const workspaceDetails = v.strictObject({
  id: v.string(),
  slug: v.string(),
  name: v.string(),
  defaults: v.strictObject({ metadata: v.record(v.string(), v.string()) }),
});

const details = v.strictObject({
  api_key_details: apiKeyReply,
  organisation_details: v.optional(organisationDetails),
  workspace_details: v.optional(v.nullable(workspaceDetails)),
});

/** Returns the actor's own key without its secret. Any scope is enough. */
export const selfRoute = defineRoute({
  method: 'GET',
  path: '/api-keys/self/details',
  scopes: [...new Set(Object.values(scopesByType).flatMap((scopes) => [...scopes]))],
  tenant: 'either',
  resource: 'api_keys',
  action: 'read',
  summary: 'Read the API key of this request with its workspace and organisation',
  query: detailsQuery,
  body: null,
  reply: v.strictObject({ success: v.literal(true), data: details }),
  async handle(call) {
    const { em, actor, organisationId, query } = call;
    if (actor.session) throw forbidden('This route requires an API key');
    const row = await em.findOne(apiKeys, { id: actor.keyId, organisationId });
    if (!row) throw notFound('API key');
    call.tag(row.revision);
    const data: v.InferOutput<typeof details> = { api_key_details: toReply(row) };
    if (query.include_organisation === 'true') {
      const { id, name } = await em.findOneOrFail(organisations, { id: organisationId });
      data.organisation_details = { id, name };
    }
    if (query.include_workspace === 'true') {
      const own = row.workspaceId ? await em.findOneOrFail(workspaces, { id: row.workspaceId, organisationId }) : null;
      data.workspace_details = own && { id: own.id, slug: own.slug, name: own.name, defaults: { metadata: own.metadata } };
    }
    return { success: true, data };
  },
});
