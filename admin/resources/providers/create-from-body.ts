import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { canonicalProviderId } from '../../../core/providers/declarations.ts';
import type { WorkspaceTenant } from '../../db/tenant.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { asReference, forbidden, invalid, unknownReference } from '../../http/errors.ts';
import type { Change } from '../../publish/write-change.ts';
import { checkHosts } from '../integrations/configurations/check-hosts.ts';
import { copyIntegration, findSource, requireSource } from '../integrations/copy-credentials.ts';
import { type Integration, integrationWorkspaces } from '../integrations/entity.ts';
import { mappingsOfNew } from '../integrations/secret-mappings/mapping-rights.ts';
import { mappingsOf } from '../integrations/secret-mappings/secret-mappings.ts';
import { createIntegration, findOwnIntegration, findUsableIntegration } from '../integrations/service.ts';
import { createProvider } from '../integrations/sharing/create-provider.ts';
import { isOpenTo } from '../secret-references/find-reference.ts';
import { configurationsOf } from './aliases.ts';
import type { Provider } from './entity.ts';
import { nameAsSent } from './name-as-sent.ts';
import type { CreateBody } from './schema.ts';
import { withUsualMode } from './usual-mode.ts';

type Services = Pick<AdminServices, 'vault' | 'settings'>;

/** Creates a provider from an existing integration, or from credentials sent inline. */
export async function createProviderFromBody(
  change: Change,
  services: Services,
  actor: Actor,
  tenant: WorkspaceTenant,
  body: CreateBody,
): Promise<Provider> {
  const integration = await integrationFor(change, services, actor, tenant, body);
  const row = await createProvider(change, tenant, {
    name: body.name,
    slug: body.slug,
    note: body.note,
    integrationId: integration.id,
    expiresAt: body.expires_at,
    usageLimits: body.usage_limits,
    rateLimits: body.rate_limits,
    tags: body.tags,
  });
  change.about(row);
  return row;
}

async function integrationFor(
  change: Change,
  services: Services,
  actor: Actor,
  tenant: WorkspaceTenant,
  body: CreateBody,
): Promise<Integration> {
  const configurations = configurationsOf(body);
  const inline = body.provider ?? body.ai_provider_id;
  if (body.integration_id !== undefined) {
    const isInline = body.key || body.source_provider_api_key_id || body.secret_mappings?.length;
    if (isInline || Object.keys(configurations).length > 0) {
      throw invalid('key: credentials belong to the integration. Send either integration_id or credentials');
    }
    const found = await sharedIntegration(change, actor, tenant, body.integration_id);
    if (inline !== undefined && canonicalProviderId(inline) !== found.aiProviderId)
      throw invalid('provider: the integration is of another provider type');
    return found;
  }
  return nameAsSent(body, () => newIntegration(change, services, actor, { tenant, body, inline, configurations }));
}

/** Creates the integration of a provider whose credentials are copied or sent inline. */
async function newIntegration(
  change: Change,
  services: Services,
  actor: Actor,
  sent: { tenant: WorkspaceTenant; body: CreateBody; inline: string | undefined; configurations: JsonObject },
): Promise<Integration> {
  const { tenant, body, inline, configurations } = sent;
  checkHosts(services.settings, configurations);
  if (body.source_provider_api_key_id !== undefined) {
    const source = await findSource(change.tx, actor, tenant.organisationId, body.source_provider_api_key_id);
    requireSource(source, inline, body.key);
    if (body.secret_mappings?.length) throw invalid('secret_mappings: not together with source_provider_api_key_id');
    return copyIntegration(change, services.vault, actor, source, { ...tenant, name: body.name }, configurations);
  }
  if (inline === undefined) throw invalid('integration_id: required, or provider with its key');
  const key = body.key ?? null;
  const scope = { ...tenant, aiProviderId: canonicalProviderId(inline), configurations };
  const mapped = await mappingsOfNew(change.tx, actor, scope, body.secret_mappings, 'model_config');
  const { api_key: mappedKey, ...fields } = Object.fromEntries(mapped.map(({ field }) => [field, null]));
  const hasKey = key !== null || mappedKey !== undefined;
  return createIntegration(change, services.vault, {
    ...scope,
    name: body.name,
    key,
    description: null,
    // A mapped field selects the authentication mode as a value does; null is not a value.
    configurations: withUsualMode(scope.aiProviderId, hasKey, { ...fields, ...configurations }),
    mapped,
  });
}

/**
 * Returns the integration, shared with the workspace. If no decision about the workspace is stored, an organisation key shares
 * the integration by creating a provider on it. A sharing that was switched off stays off.
 */
async function sharedIntegration(change: Change, actor: Actor, tenant: WorkspaceTenant, idOrSlug: string): Promise<Integration> {
  const { tx } = change;
  const usable = await findUsableIntegration(tx, tenant, idOrSlug);
  if (usable) return usable;
  if (actor.workspaceId !== null) throw unknownReference('integration_id', 'Integration');
  const scope = { organisationId: tenant.organisationId, workspaceId: null };
  const own = await findOwnIntegration(tx, scope, idOrSlug).catch(asReference('integration_id', 'Integration'));
  if (own.workspaceId) throw unknownReference('integration_id', 'Integration');
  const decided = await tx.findOne(integrationWorkspaces, { integrationId: own.id, workspaceId: tenant.workspaceId });
  if (decided) throw forbidden('This integration is disabled for the workspace');
  const now = new Date();
  const mapped = await mappingsOf(tx, own);
  if (!mapped.every(({ reference }) => isOpenTo(reference, tenant.workspaceId))) {
    throw invalid('integration_id: uses a secret reference that is not open to this workspace');
  }
  tx.create(integrationWorkspaces, {
    ...tenant,
    integrationId: own.id,
    enabled: true,
    ...unlimited,
    createdAt: now,
    lastUpdatedAt: now,
  });
  return own;
}

const unlimited = { usageLimits: null, rateLimits: [], lastResetAt: null, exhaustedAt: null };
