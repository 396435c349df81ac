import type { EntityManager } from '../../db/open-database.ts';
import { invalid } from '../../http/errors.ts';
import { originOf } from '../../http/gateways/check-host.ts';
import { isMasked, masked } from '../../secrets/sealed-fields.ts';
import { type Headers, lowerCased, sealedHeaders, unchangedHeaders } from '../../secrets/sealed-headers.ts';
import type { Vault } from '../../secrets/vault.ts';
import { changedToolGuardrails } from '../guardrails/tool-guardrails.ts';
import { changedCallSettings } from './call-settings.ts';
import { putClientSecret } from './client-secret.ts';
import type { McpIntegration } from './entity.ts';
import { refuseMove } from './refuse-move.ts';
import type { McpSettings, SentConfigurations, SentOauthMetadata } from './schema.ts';

/** Headers of every call to the server, sealed: `headers` and `passthrough_headers` together, the second replacing the first. */
const sealed = sealedHeaders<McpIntegration>('mcp_integrations');

export const openMcpHeaders = sealed.open;

/**
 * Applies the sent settings to a row that is not stored yet. Omitted members stay, null removes one. Sent headers replace all of their
 * kind; a masked value keeps the stored one. `movedFrom` is the previous URL: a new host needs the credentials again. Throws AB01.
 */
export async function putSettings(
  em: EntityManager,
  vault: Vault,
  row: McpIntegration,
  sent: SentConfigurations,
  movedFrom: string | null,
): Promise<void> {
  const before = await sealed.open(em, vault, row);
  const {
    forward_headers,
    tools,
    oauth_metadata,
    request_timeout,
    cb_config,
    user_identity_forwarding,
    jwt_validation,
    input_guardrails,
    output_guardrails,
    openapi: _,
    ...groups
  } = sent ?? {};
  const calls = { request_timeout, cb_config, user_identity_forwarding, jwt_validation };
  const own = pick(groups, 'headers', 'custom_headers');
  const passed = pick(groups, 'passthrough_headers', 'passthrough_header');
  const passthrough = passed ? Object.keys(lowerCased(passed)) : (row.configurations.passthrough ?? []);
  const [storedOwn, storedPassed] = split(before, row.configurations.passthrough ?? []);
  const all = { ...kept(storedOwn, own), ...kept(storedPassed, passed) };
  if (movedFrom !== null && originOf(movedFrom) !== originOf(row.url))
    refuseMove(all, lowerCased({ ...(own ?? {}), ...(passed ?? {}) }));
  refuseSecretMove(row, oauth_metadata, movedFrom);
  if (oauth_metadata !== undefined)
    await putClientSecret(em, vault, row, oauth_metadata === null ? null : oauth_metadata.client_secret);
  const { openapi } = row.configurations;
  row.configurations = {
    ...(openapi ? { openapi } : {}),
    ...settingsOf({
      oauth_metadata: oauth_metadata === undefined ? row.configurations.oauth_metadata : withoutSecret(oauth_metadata),
      forward_headers: forward_headers === undefined ? row.configurations.forward_headers : forward_headers,
      tools: tools === undefined ? row.configurations.tools : tools,
      passthrough: passthrough.filter((name) => all[name] !== undefined),
    }),
    ...(await changedToolGuardrails(em, row, row.configurations, { input_guardrails, output_guardrails })),
    ...(await changedCallSettings(em, vault, row, calls)),
  };
  await sealed.put(em, vault, row, all);
}

/** Removes all header values, and the client secret. */
export function dropHeaders(row: McpIntegration): void {
  row.clientSecret = null;
  row.customHeaders = null;
  row.tokenSecret = null;
  row.headerNames = {};
}

/** Returns the settings in their read form, credentials among the headers masked. */
export function shownSettings({ configurations, headerNames, clientSecret }: McpIntegration): Record<string, unknown> {
  const { passthrough = [], oauth_metadata, ...settings } = configurations;
  const [own, passed] = split(headerNames, passthrough);
  return {
    ...settings,
    ...(oauth_metadata ? { oauth_metadata: { ...oauth_metadata, ...(clientSecret ? { client_secret: masked('') } : {}) } } : {}),
    ...(Object.keys(own).length === 0 ? {} : { custom_headers: own }),
    ...(Object.keys(passed).length === 0 ? {} : { passthrough_headers: passed }),
  };
}

type Sent = Headers | null | undefined;

/** Returns the headers that were sent under either name; null removes all, undefined changes nothing. */
function pick<Name extends string>(groups: { readonly [K in Name]?: Sent }, name: Name, alias: Name): Sent {
  if (groups[name] !== undefined && groups[alias] !== undefined) {
    throw invalid(`configurations.${alias}: is another name of ${name}. Send one of them`);
  }
  const sent = groups[name] === undefined ? groups[alias] : groups[name];
  return sent === null ? {} : sent;
}

function kept(stored: Headers, sent: Sent): Headers {
  return sent ? unchangedHeaders(stored, sent) : stored;
}

function split(headers: Headers, second: readonly string[]): [Headers, Headers] {
  const [one, two]: [Record<string, string>, Record<string, string>] = [{}, {}];
  for (const [name, value] of Object.entries(headers)) (second.includes(name) ? two : one)[name] = value;
  return [one, two];
}

/** The client secret stays with the host it was stored for: that of the server, and that of a fixed token endpoint. */
function refuseSecretMove(row: McpIntegration, sent: SentOauthMetadata | null | undefined, movedFrom: string | null): void {
  if (!row.clientSecret || sent === null || (sent?.client_secret && !isMasked(sent.client_secret))) return;
  const endpoint = row.configurations.oauth_metadata?.token_endpoint;
  const hasMoved = movedFrom !== null && originOf(movedFrom) !== originOf(row.url);
  const isOtherEndpoint = sent !== undefined && originOf(sent.token_endpoint ?? null) !== originOf(endpoint ?? null);
  if (!hasMoved && !isOtherEndpoint) return;
  const field = hasMoved ? 'url' : 'configurations.oauth_metadata.token_endpoint';
  throw invalid(`${field}: a new host requires the client secret again. Send configurations.oauth_metadata.client_secret`);
}

function withoutSecret(sent: SentOauthMetadata | null): McpSettings['oauth_metadata'] | null {
  if (sent === null) return null;
  const { client_secret: _, ...rest } = sent;
  return rest;
}

type Plain = Pick<McpSettings, 'forward_headers' | 'tools' | 'passthrough' | 'oauth_metadata'>;

function settingsOf(given: { [K in keyof Plain]: Plain[K] | null | undefined }): Plain {
  const { forward_headers, tools, passthrough, oauth_metadata } = given;
  return {
    ...(oauth_metadata ? { oauth_metadata } : {}),
    ...(forward_headers ? { forward_headers } : {}),
    ...(tools ? { tools } : {}),
    ...(passthrough?.length ? { passthrough } : {}),
  };
}
