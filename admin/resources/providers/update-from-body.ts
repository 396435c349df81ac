import { LockMode } from '@mikro-orm/core';
import { canonicalProviderId } from '../../../core/providers/declarations.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { invalid } from '../../http/errors.ts';
import { requireUnchanged } from '../../http/request/schemas.ts';
import type { Change } from '../../publish/write-change.ts';
import { checkHosts } from '../integrations/configurations/check-hosts.ts';
import { findSource, requireSource, takeCredentials } from '../integrations/copy-credentials.ts';
import { integrations } from '../integrations/entity.ts';
import { mappingsToChange } from '../integrations/secret-mappings/secret-mappings.ts';
import { updateIntegration } from '../integrations/service.ts';
import { configurationsOf } from './aliases.ts';
import type { Provider } from './entity.ts';
import { nameAsSent } from './name-as-sent.ts';
import type { UpdateBody } from './schema.ts';
import { updateProvider } from './service.ts';

/**
 * Updates a provider and, if credentials are sent inline, its integration, which must belong to the workspace. The integration of
 * a provider cannot be replaced; naming the same one again is allowed.
 */
export async function updateProviderFromBody(
  change: Change,
  services: Pick<AdminServices, 'vault' | 'settings'>,
  actor: Actor,
  row: Provider,
  body: UpdateBody,
): Promise<void> {
  const { organisationId } = row;
  // Locked, because the credential behind it may be changed concurrently.
  const held = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const integration = await change.tx.findOne(integrations, { id: row.integrationId, organisationId }, held);
  const type = body.provider ?? body.ai_provider_id;
  requireUnchanged('slug', body.slug, row.slug);
  requireUnchanged('provider', type && canonicalProviderId(type), integration?.aiProviderId);
  requireUnchanged('integration_id', body.integration_id, integration?.id, integration?.slug);
  const configurations = configurationsOf(body);
  const source = body.source_provider_api_key_id;
  const mappings = body.secret_mappings;
  const says = body.key !== undefined || source !== undefined || Object.keys(configurations).length > 0;
  // An integration of the organisation never has mappings for a single provider, so an empty list is accepted.
  if (says || mappings?.length || (mappings !== undefined && integration?.workspaceId)) {
    if (!integration?.workspaceId)
      throw invalid('key: credentials belong to the integration of the organisation. Change them there');
    await nameAsSent(body, async () => {
      checkHosts(services.settings, configurations);
      if (source !== undefined) {
        const from = await findSource(change.tx, actor, organisationId, source);
        requireSource(from, integration.aiProviderId, body.key);
        await takeCredentials(change.tx, services.vault, from, integration);
      }
      const mapped = await mappingsToChange(change.tx, integration, mappings, 'model_config');
      await updateIntegration(change, services.vault, actor, integration, { key: body.key, configurations, mapped });
    });
  }
  updateProvider(change, row, body);
}
