import * as v from 'valibot';
import {
  type ConnectionCheck,
  connectionDiagnosis,
} from '../../../../core/contract/protocol/control-plane-calls/connection-test.ts';
import { canonicalProviderId } from '../../../../core/providers/declarations.ts';
import { tenantEntries, tenantQuery } from '../../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../../http/route.ts';
import { isOpenTo } from '../../secret-references/find-reference.ts';
import { checkHosts } from '../configurations/check-hosts.ts';
import { splitConfigurations } from '../configurations/configurations.ts';
import { requireSettings } from '../configurations/require-settings.ts';
import { openHeaders, settingsOf } from '../headers.ts';
import { credential, providerId } from '../schema.ts';
import { mappedDocuments } from '../secret-mappings/mapped-documents.ts';
import { mappingsOfNew } from '../secret-mappings/mapping-rights.ts';
import { mappingsBody } from '../secret-mappings/mapping-schema.ts';
import { mappingsOf, refuseBoth } from '../secret-mappings/secret-mappings.ts';
import { openSecrets } from '../secrets.ts';
import { findOwnIntegration, requireOwner } from '../service.ts';
import { testConnection } from './test-connection.ts';

const scopes = ['organisation_integrations.update', 'workspace_integrations.update'];

const unsavedBody = v.strictObject({
  ...tenantEntries,
  ai_provider_id: providerId,
  key: v.nullish(credential),
  configurations: v.nullish(v.record(v.string(), v.unknown())),
  secret_mappings: mappingsBody,
});

/** Routes that test whether an account works, before or after it is saved. They need the same scopes as changing it. */
export const integrationTestRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'POST',
    path: '/integrations/test',
    summary: 'Test an account that is not saved; the reply names the wrong field',
    reply: connectionDiagnosis,
    scopes,
    tenant: 'either',
    resource: 'integrations',
    action: 'test',
    query: tenantQuery,
    body: unsavedBody,
    async handle(call) {
      const { em, body, services, actor, organisationId, workspaceId } = call;
      requireOwner(actor, workspaceId, 'update');
      const aiProviderId = canonicalProviderId(body.ai_provider_id);
      checkHosts(services.settings, body.configurations);
      const { settings, secrets, headers } = splitConfigurations(aiProviderId, body.configurations ?? {});
      if (body.key) secrets.api_key = body.key;
      const scope = { organisationId, workspaceId, aiProviderId, configurations: settings };
      const mapped = await mappingsOfNew(em, actor, scope, body.secret_mappings, 'configurations', false);
      refuseBoth(mapped, new Set([...Object.keys(settings), ...Object.keys(secrets)]));
      const fields = [...Object.keys(secrets), ...mapped.map(({ field }) => field)];
      requireSettings(aiProviderId, settings, new Set(fields));
      const mappedSecrets = await mappedDocuments(em, services.vault, services.settings.clusterKey, mapped);
      await call.write(async () => {});
      return testConnection(services, {
        ...{ organisationId, aiProviderId, settings, secrets, mappedSecrets },
        headers: headers ?? {},
      });
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/integrations/:slug/test',
    summary: 'Test a stored account; the reply names the wrong field',
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
      const headers = await openHeaders(em, services.vault, row);
      const { aiProviderId } = row;
      const mapped = await mappingsOf(em, row);
      const mappedSecrets = await mappedDocuments(em, services.vault, services.settings.clusterKey, mapped);
      await call.write(async (change) => change.about(row));
      const closed = mapped.findIndex(({ reference }) => row.workspaceId && !isOpenTo(reference, row.workspaceId));
      if (closed >= 0) return { ok: false, checks: [closedCheck(closed)] };
      const settings = settingsOf(row);
      return testConnection(services, { organisationId, aiProviderId, settings, secrets, headers, mappedSecrets });
    },
  }),
];

/** Tested without a gateway, because gateways would not receive the document of the provider either. */
function closedCheck(index: number): ConnectionCheck {
  const field = `secret_mappings[${index}].secret_reference_id`;
  return { field, status: 'failed', message: 'the secret reference is no longer open to this workspace' };
}
