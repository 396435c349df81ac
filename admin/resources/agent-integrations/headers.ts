import { keyPurposes } from '../../../core/contract/protocol/documents.ts';
import { deriveKey, seal } from '../../../core/contract/values/secret.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { originOf } from '../../http/check-host.ts';
import { invalid } from '../../http/errors.ts';
import { isMasked } from '../../secrets/sealed-fields.ts';
import { type Headers, lowerCased, sealedHeaders, unchangedHeaders } from '../../secrets/sealed-headers.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { AgentIntegration } from './entity.ts';
import type { SentConfigurations } from './schema.ts';

const sealed = sealedHeaders<AgentIntegration>('agent_integrations');

/** Returns the headers of every call to the agent as plain text. */
export const openAgentHeaders = sealed.open;

/** Headers as gateways receive them, bound to `context`. Null if there are none. */
export function sealedForGateways(clusterKey: Uint8Array, context: string, headers: Headers): string | null {
  if (Object.keys(headers).length === 0) return null;
  return seal(deriveKey(clusterKey, keyPurposes.transport), JSON.stringify(headers), context);
}

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
  if (forward !== undefined) row.configurations = forward === null ? {} : { forward_headers: forward };
  await sealed.put(em, vault, row, all);
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

/** A stored header stays on the host it was stored for. Otherwise a change of the URL would send it elsewhere. */
function refuseMove(all: Headers, sent: Headers): void {
  const unchanged = Object.keys(all).filter((name) => sent[name] === undefined || isMasked(sent[name]));
  if (unchanged.length === 0) return;
  const names = unchanged.map((name) => `configurations.headers.${name}`).join(', ');
  throw invalid(`url: a new host requires the headers again. Send ${names}`);
}
