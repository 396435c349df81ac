import type { EntityManager } from '../../db/open-database.ts';
import { invalid } from '../../http/errors.ts';
import { originOf } from '../../http/gateways/check-host.ts';
import { lowerCased, sealedHeaders, unchangedHeaders } from '../../secrets/sealed-headers.ts';
import type { Vault } from '../../secrets/vault.ts';
import { changedToolGuardrails } from '../guardrails/tool-guardrails.ts';
import { refuseMove } from '../mcp-integrations/refuse-move.ts';
import type { AgentIntegration } from './entity.ts';
import type { SentConfigurations } from './schema.ts';

const sealed = sealedHeaders<AgentIntegration>('agent_integrations');

/** Returns the headers of every call to the agent as plain text. */
export const openAgentHeaders = sealed.open;

/**
 * Applies the sent settings to a row that is not stored yet. Omitted members stay, null removes one. Sent headers replace all; a
 * masked value keeps the stored one. `movedFrom` is the previous URL: a new host needs the credentials again. Throws AB01.
 */
export async function putSettings(
  em: EntityManager,
  vault: Vault,
  row: AgentIntegration,
  sent: SentConfigurations,
  movedFrom: string | null,
): Promise<void> {
  const { forward_headers: forward, headers, custom_headers: alias } = sent ?? {};
  if (headers !== undefined && alias !== undefined) {
    throw invalid('configurations.custom_headers: is another name of headers. Send one of them');
  }
  const given = headers === undefined ? alias : headers;
  const before = await sealed.open(em, vault, row);
  const all = given === undefined ? before : unchangedHeaders(before, given ?? {});
  if (movedFrom !== null && originOf(movedFrom) !== originOf(row.url)) refuseMove(all, lowerCased(given ?? {}));
  row.configurations = {
    ...changed('forward_headers', row.configurations.forward_headers, forward),
    ...changed('request_timeout', row.configurations.request_timeout, sent?.request_timeout),
    ...changed('cb_config', row.configurations.cb_config, sent?.cb_config),
    ...(await changedToolGuardrails(em, row, row.configurations, sent)),
  };
  await sealed.put(em, vault, row, all);
}

/** The member after a change: omitted keeps the stored value, null and an empty list remove it. */
function changed<Name extends string, Value>(name: Name, stored: Value | undefined, sent: Value | null | undefined) {
  const value = sent === undefined ? stored : sent;
  const isEmpty = value === null || value === undefined || (Array.isArray(value) && value.length === 0);
  return (isEmpty ? {} : { [name]: value }) as { [Key in Name]?: Value };
}

/** Removes all header values. */
export function dropHeaders(row: AgentIntegration): void {
  row.customHeaders = null;
  row.headerNames = {};
}

/** Returns the settings in their read form, credentials among the headers masked. */
export function shownSettings({ configurations, headerNames }: AgentIntegration): Record<string, unknown> {
  return { ...configurations, ...(Object.keys(headerNames).length === 0 ? {} : { custom_headers: headerNames }) };
}
