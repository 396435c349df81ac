import { levelScopes } from '../../../access/level-scopes.ts';
import { requireModelRight } from '../../../access/model-rights.ts';
import { invalid } from '../../../http/errors.ts';
import { emptyReply } from '../../../http/reply/reply-schemas.ts';
import { tenantQuery } from '../../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../../http/route.ts';
import { findOwnIntegration, requireOwner } from '../service.ts';
import { deleteModelsBody, deleteModelsQuery, modelsBody, modelsReply } from './model-schema.ts';
import { type ListedModel, listModels, putModels, removeModels } from './models.ts';

const scopes = levelScopes('integrations');

/** Routes for the models of an integration: permission to call them, and their settings. */
export const integrationModelRoutes: readonly AdminRoute[] = (['models', 'integration-models'] as const).flatMap((name) => [
  defineRoute({
    method: 'GET',
    path: `/integrations/:slug/${name}`,
    summary: 'List the models of an integration',
    reply: modelsReply,
    scopes: scopes('read'),
    tenant: 'either',
    resource: 'integrations',
    action: 'list-models',
    query: tenantQuery,
    body: null,
    async handle(call) {
      await requireModelRight(call, 'view');
      const integration = await findOwnIntegration(call.em, call, call.params.slug ?? '');
      const models = await listModels(call.em, integration);
      call.tag(integration.revision);
      return {
        object: 'list',
        total: models.length,
        allow_all_models: integration.allowAllModels,
        models: models.map(toReply),
      };
    },
  }),
  defineRoute({
    method: 'PUT',
    path: `/integrations/:slug/${name}`,
    summary: 'Enable, disable, add and price models of an integration',
    reply: emptyReply,
    scopes: scopes('update'),
    tenant: 'either',
    resource: 'integrations',
    action: 'update-models',
    query: tenantQuery,
    body: modelsBody,
    async handle(call) {
      await requireModelRight(call, 'write');
      await call.write(async (change) => {
        const integration = await findOwnIntegration(change.tx, call, call.params.slug ?? '', 'for update');
        requireOwner(call.actor, integration.workspaceId ?? null, 'update');
        call.match(integration);
        await putModels(change, call.services, integration, call.body);
      });
      return {};
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: `/integrations/:slug/${name}`,
    summary: 'Remove custom models of an integration',
    reply: emptyReply,
    scopes: scopes('update'),
    tenant: 'either',
    resource: 'integrations',
    action: 'delete-models',
    query: deleteModelsQuery,
    body: deleteModelsBody,
    async handle(call) {
      await requireModelRight(call, 'write');
      const slugs = [...(call.query.slugs ?? []), ...(call.body.models ?? [])];
      if (slugs.length === 0) throw invalid('slugs: required in the query, or models in the body');
      await call.write(async (change) => {
        const integration = await findOwnIntegration(change.tx, call, call.params.slug ?? '', 'for update');
        requireOwner(call.actor, integration.workspaceId ?? null, 'update');
        call.match(integration);
        await removeModels(change, integration, slugs);
      });
      return {};
    },
  }),
]);

function toReply({ slug, enabled, row, canonicalSlug }: ListedModel) {
  const headers = row?.headerNames ?? {};
  const configurations = {
    ...(row?.customHost ? { custom_host: row.customHost } : {}),
    ...(Object.keys(headers).length > 0 ? { custom_headers: headers } : {}),
  };
  return {
    slug,
    name: row?.name ?? slug,
    enabled,
    is_custom: row?.isCustom ?? false,
    is_finetune: row?.isFinetune ?? false,
    base_model_slug: row?.baseModelSlug ?? canonicalSlug,
    configurations: Object.keys(configurations).length === 0 ? null : configurations,
    pricing_config: row?.pricingConfig ?? null,
    pricing_versions: (row?.pricingHistory ?? []).map(({ from, value }) => ({ effective_from: from, pricing_config: value })),
  };
}
