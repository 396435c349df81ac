import * as v from 'valibot';
import { connectionDiagnosis } from '../../../core/contract/connection-test.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { tenantEntries, tenantQuery } from '../../http/schemas.ts';
import { checkHosts } from './check-hosts.ts';
import { splitConfigurations } from './configurations.ts';
import { canonicalProviderId } from './provider-ids.ts';
import { requireSettings } from './require-settings.ts';
import { credential, providerId } from './schema.ts';
import { openSecrets } from './secrets.ts';
import { findOwnIntegration, requireOwner } from './service.ts';
import { testConnection } from './test-connection.ts';

const scopes = ['organisation_integrations.update', 'workspace_integrations.update'];

const unsavedBody = v.strictObject({
  ...tenantEntries,
  ai_provider_id: providerId,
  key: v.nullish(credential),
  configurations: v.nullish(v.record(v.string(), v.unknown())),
});

/** Whether an account works, before or after it is saved. Needs what changing it needs. */
export const integrationTestRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'POST',
    path: '/integrations/test',
    summary: 'Try an account that is not saved, and say which field is wrong',
    reply: connectionDiagnosis,
    scopes,
    tenant: 'either',
    resource: 'integrations',
    action: 'test',
    query: tenantQuery,
    body: unsavedBody,
    async handle(call) {
      const { body, services, organisationId } = call;
      requireOwner(call.actor, call.workspaceId, 'update');
      const aiProviderId = canonicalProviderId(body.ai_provider_id);
      checkHosts(services.settings, body.configurations);
      const { settings, secrets } = splitConfigurations(aiProviderId, body.configurations ?? {});
      if (body.key) secrets.api_key = body.key;
      requireSettings(aiProviderId, settings, new Set(Object.keys(secrets)));
      await call.write(async () => {});
      return testConnection(services, { organisationId, aiProviderId, settings, secrets });
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/integrations/:slug/test',
    summary: 'Try a stored account, and say which field is wrong',
    reply: connectionDiagnosis,
    scopes,
    tenant: 'either',
    resource: 'integrations',
    action: 'test',
    query: tenantQuery,
    body: v.strictObject(tenantEntries),
    async handle(call) {
      const { em, services, organisationId } = call;
      const row = await findOwnIntegration(em, call, call.params.slug ?? '');
      requireOwner(call.actor, row.workspaceId ?? null, 'update');
      const secrets = await openSecrets(em, services.vault, row);
      const { aiProviderId, configurations: settings } = row;
      await call.write(async (change) => change.about(row.id));
      return testConnection(services, { organisationId, aiProviderId, settings, secrets });
    },
  }),
];
