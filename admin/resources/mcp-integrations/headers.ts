import { keyPurposes } from '../../../core/contract/protocol/documents.ts';
import { deriveKey, seal } from '../../../core/contract/values/secret.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { originOf } from '../../http/check-host.ts';
import { invalid } from '../../http/errors.ts';
import { isMasked } from '../../secrets/sealed-fields.ts';
import { type Headers, lowerCased, sealedHeaders, unchangedHeaders } from '../../secrets/sealed-headers.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { McpIntegration } from './entity.ts';
import type { McpSettings, SentConfigurations } from './schema.ts';

/** Headers of every call to the server, sealed: `headers` and `passthrough_headers` together, the second replacing the first. */
const sealed = sealedHeaders<McpIntegration>('mcp_integrations');

export const openMcpHeaders = sealed.open;

/** Headers as documents carry them, bound to the server of this id. Null if there are none. */
export function sealedForGateways(clusterKey: Uint8Array, serverId: string, headers: Headers): string | null {
  if (Object.keys(headers).length === 0) return null;
  return seal(deriveKey(clusterKey, keyPurposes.transport), JSON.stringify(headers), `mcp-server/${serverId}`);
}

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
  const { forward_headers, tools, ...groups } = sent ?? {};
  const own = pick(groups, 'headers', 'custom_headers');
  const passed = pick(groups, 'passthrough_headers', 'passthrough_header');
  const passthrough = passed ? Object.keys(lowerCased(passed)) : (row.configurations.passthrough ?? []);
  const [storedOwn, storedPassed] = split(before, row.configurations.passthrough ?? []);
  const all = { ...kept(storedOwn, own), ...kept(storedPassed, passed) };
  if (movedFrom !== null && originOf(movedFrom) !== originOf(row.url))
    refuseMove(all, lowerCased({ ...(own ?? {}), ...(passed ?? {}) }));
  row.configurations = settingsOf({
    forward_headers: forward_headers === undefined ? row.configurations.forward_headers : forward_headers,
    tools: tools === undefined ? row.configurations.tools : tools,
    passthrough: passthrough.filter((name) => all[name] !== undefined),
  });
  await sealed.put(em, vault, row, all);
}

/** Removes all header values. */
export function dropHeaders(row: McpIntegration): void {
  row.customHeaders = null;
  row.headerNames = {};
}

/** Returns the settings in their read form, credentials among the headers masked. */
export function shownSettings({ configurations, headerNames }: McpIntegration): Record<string, unknown> {
  const { passthrough = [], ...settings } = configurations;
  const [own, passed] = split(headerNames, passthrough);
  return {
    ...settings,
    ...(Object.keys(own).length === 0 ? {} : { custom_headers: own }),
    ...(Object.keys(passed).length === 0 ? {} : { passthrough_headers: passed }),
  };
}

type Sent = Headers | null | undefined;

/** Returns what was sent under either name; null removes all, undefined changes nothing. */
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

/** A stored header stays on the host it was stored for. Otherwise a change of the URL would send it elsewhere. */
function refuseMove(all: Headers, sent: Headers): void {
  const unchanged = Object.keys(all).filter((name) => sent[name] === undefined || isMasked(sent[name]));
  if (unchanged.length === 0) return;
  const names = unchanged.map((name) => `configurations.headers.${name}`).join(', ');
  throw invalid(`url: a new host requires the headers again. Send ${names}`);
}

function settingsOf(given: { [K in keyof McpSettings]: McpSettings[K] | null | undefined }): McpSettings {
  const { forward_headers, tools, passthrough } = given;
  return {
    ...(forward_headers ? { forward_headers } : {}),
    ...(tools ? { tools } : {}),
    ...(passthrough?.length ? { passthrough } : {}),
  };
}
