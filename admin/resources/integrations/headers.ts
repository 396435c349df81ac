import type { Sealed } from '../../../core/contract/values/credentials/secret.ts';
import { isCredentialHeader } from '../../../core/contract/values/http/credential-headers.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { isMasked } from '../../secrets/sealed-fields.ts';
import {
  type Headers,
  headersForGateways,
  lowerCased,
  maskedHeaders,
  sealedHeaders,
  unchangedHeaders,
} from '../../secrets/sealed-headers.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { Integration } from './entity.ts';

/**
 * Headers of every call of an integration, sealed. Older versions wrote them as plain settings. Plain headers are newer than
 * sealed ones, because every change by this version removes them from the settings.
 */
const sealed = sealedHeaders<Integration>('integrations');

/** All headers as plain text, by name in lower case. */
export async function openHeaders(em: EntityManager, vault: Vault, row: Integration): Promise<Headers> {
  return plainHeadersOf(row) ?? sealed.open(em, vault, row);
}

/** Seals these headers, replacing all previous ones, including plain ones among the settings. */
export async function putHeaders(em: EntityManager, vault: Vault, row: Integration, headers: Headers): Promise<void> {
  await sealed.put(em, vault, row, headers);
  row.configurations = settingsOf(row);
}

export interface ChangedHeaders {
  readonly all: Headers;
  /** Names of credentials among the headers that were not sent again. */
  readonly unchangedCredentials: readonly string[];
}

/**
 * Returns the headers after a change, not stored yet. Sent headers replace all previous ones. Null removes all, undefined changes
 * nothing.
 */
export async function changeHeaders(
  em: EntityManager,
  vault: Vault,
  row: Integration,
  sent: Headers | null | undefined,
): Promise<ChangedHeaders> {
  const before = await openHeaders(em, vault, row);
  const all = sent === undefined ? before : unchangedHeaders(before, sent ?? {});
  const given = lowerCased(sent ?? {});
  const unchangedCredentials = Object.keys(all).filter(
    (name) => isCredentialHeader(name) && (given[name] === undefined || isMasked(given[name])),
  );
  return { all, unchangedCredentials };
}

/** Settings without secrets, under their wire names. */
export function settingsOf(row: Integration): Record<string, unknown> {
  const { custom_headers: _, ...settings } = row.configurations;
  return settings;
}

/** Returns the settings in their read form: with the names of headers, and their values unless they are credentials. */
export function shownSettingsOf(row: Integration): Record<string, unknown> {
  const plain = plainHeadersOf(row);
  const headers = plain ? maskedHeaders(plain) : row.headerNames;
  return { ...settingsOf(row), ...(Object.keys(headers).length > 0 ? { custom_headers: headers } : {}) };
}

/** Headers as documents carry them, bound to the provider of this id. */
export function sealedForGateways(clusterKey: Uint8Array, providerId: string, headers: Headers): Sealed | null {
  return headersForGateways(clusterKey, `provider/${providerId}/headers`, headers);
}

function plainHeadersOf({ configurations }: Integration): Headers | null {
  const { custom_headers: plain } = configurations;
  return plain === undefined || plain === null ? null : lowerCased(plain as Headers);
}
