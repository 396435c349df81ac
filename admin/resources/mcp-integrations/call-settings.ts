import { breakerSettingsOf } from '../../../core/contract/plugin/config/strategy-config.ts';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import type { IdentityForwarding, McpServerDocument } from '../../../core/contract/protocol/mcp/mcp.ts';
import { deriveKey, seal } from '../../../core/contract/values/credentials/secret.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { DocumentSource } from '../../define-resource.ts';
import { invalid } from '../../http/errors.ts';
import { originOf } from '../../http/gateways/check-host.ts';
import { isMasked, lastCharacters, masked } from '../../secrets/sealed-fields.ts';
import type { SealContext, Vault } from '../../secrets/vault.ts';
import { type CallSettings, callSettings, type SentCallSettings } from './call-settings-schema.ts';
import type { McpIntegration } from './entity.ts';
import type { SentConfigurations } from './schema.ts';

/**
 * Returns the settings of calls after a change. Omitted members stay, null removes one. A masked secret keeps the stored one while the host
 * of the introspection endpoint stays. Seals a new secret into the row. Throws AB01.
 */
export async function changedCallSettings(
  em: EntityManager,
  vault: Vault,
  row: McpIntegration,
  sent: SentCallSettings,
): Promise<CallSettings> {
  const before: CallSettings = row.configurations;
  const after: Record<string, unknown> = {};
  for (const name of Object.keys(callSettings) as (keyof SentCallSettings)[]) {
    const value = sent[name] === undefined ? before[name] : sent[name];
    if (value !== null && value !== undefined) after[name] = value;
  }
  const settings = after as CallSettings;
  if (sent.jwt_validation !== undefined) await putSecret(em, vault, row, settings, before);
  return settings;
}

async function putSecret(
  em: EntityManager,
  vault: Vault,
  row: McpIntegration,
  settings: CallSettings,
  before: CallSettings,
): Promise<void> {
  const rules = settings.jwt_validation;
  const secret = rules?.introspectClientSecret;
  if (!rules || secret === undefined) {
    row.tokenSecret = null;
    return;
  }
  const path = 'configurations.jwt_validation.introspectClientSecret';
  if (rules.introspectClientId === undefined) throw invalid(`${path}: introspectClientId is missing`);
  if (!isMasked(secret)) {
    row.tokenSecret = await vault.seal(em, contextOf(row), secret);
    settings.jwt_validation = { ...rules, introspectClientSecret: masked(lastCharacters(secret)) };
    return;
  }
  const known = before.jwt_validation;
  const isKept = row.tokenSecret && originOf(known?.introspectEndpoint) === originOf(rules.introspectEndpoint);
  if (!isKept) throw invalid(`${path}: a masked value is not stored for this host. Send the secret`);
  settings.jwt_validation = { ...rules, introspectClientSecret: known?.introspectClientSecret };
}

/** Returns the URLs in these settings that a gateway or a browser is sent to, with their paths. */
export function calledUrls(sent: SentConfigurations): [path: string, url: string][] {
  const { jwksUri, introspectEndpoint } = sent?.jwt_validation ?? {};
  const { authorization_endpoint, token_endpoint } = sent?.oauth_metadata ?? {};
  const named: [string, string | null | undefined][] = [
    ['configurations.jwt_validation.jwksUri', jwksUri],
    ['configurations.jwt_validation.introspectEndpoint', introspectEndpoint],
    ['configurations.oauth_metadata.authorization_endpoint', authorization_endpoint],
    ['configurations.oauth_metadata.token_endpoint', token_endpoint],
  ];
  return named.filter((one): one is [string, string] => typeof one[1] === 'string');
}

type Part = Pick<McpServerDocument, 'timeoutMs' | 'circuit' | 'identity' | 'externalTokens'>;

/** Returns the part of the document of a server that holds these settings. */
export async function callPart(
  em: EntityManager,
  { vault, clusterKey }: DocumentSource,
  row: McpIntegration,
  serverId: string,
): Promise<Part> {
  const { request_timeout, cb_config, user_identity_forwarding: identity, jwt_validation: rules } = row.configurations;
  const secret = row.tokenSecret ? { introspectClientSecret: await vault.open(em, contextOf(row), row.tokenSecret) } : {};
  const key = deriveKey(clusterKey, keyPurposes.transport);
  return {
    timeoutMs: request_timeout ?? null,
    circuit: circuitOf(cb_config),
    identity: identity ? toForwarding(identity) : null,
    externalTokens: rules ? seal(key, JSON.stringify({ ...rules, ...secret }), `mcp-server/${serverId}/tokens`) : null,
  };
}

/** Returns the conditions of a circuit as documents hold them; null: there is none. */
export function circuitOf(sent: CallSettings['cb_config']): McpServerDocument['circuit'] {
  return sent ? { ...breakerSettingsOf(sent), statusCodes: sent.failure_status_codes ?? null } : null;
}

function toForwarding(sent: NonNullable<CallSettings['user_identity_forwarding']>): IdentityForwarding {
  const { method, include_claims, jwt_expiry_seconds = 300 } = sent;
  return { method, claims: include_claims ?? null, header: identityHeader(sent), expirySeconds: jwt_expiry_seconds };
}

/** Returns the name of the header that states who calls, in lower case. */
export function identityHeader({ method, header_name }: NonNullable<CallSettings['user_identity_forwarding']>): string {
  return header_name ?? defaultHeaders[method];
}

const defaultHeaders = { claims_header: 'x-user-claims', bearer: 'authorization', jwt_header: 'x-user-jwt' } as const;

function contextOf({ id, organisationId }: McpIntegration): SealContext {
  return { organisationId, table: 'mcp_integrations', column: 'token_secret', rowId: id };
}
