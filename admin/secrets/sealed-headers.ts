import { keyPurposes } from '../../core/contract/protocol/credentials/key-purposes.ts';
import { deriveKey, seal } from '../../core/contract/values/credentials/secret.ts';
import { isCredentialHeader } from '../../core/contract/values/http/credential-headers.ts';
import type { EntityManager } from '../db/open-database.ts';
import { isMasked, lastCharacters, masked } from './sealed-fields.ts';
import type { SealContext, Vault } from './vault.ts';

/** Header name to value; names in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** A row with headers for an external host, sealed together. */
export interface HeaderRow {
  readonly id: string;
  readonly organisationId: string;
  /** JSON of the headers, name to value, sealed by the organisation's data key; null when there are none. */
  customHeaders?: string | null;
  /** For reads: each header with its value, masked if it looks like a credential. */
  headerNames: Record<string, string>;
}

/** Reads and writes the headers of the rows of one table. */
export interface SealedHeaders<Row extends HeaderRow> {
  /** Returns all of them as plain text. */
  open(em: EntityManager, vault: Vault, row: Row): Promise<Headers>;
  /** Seals these headers, replacing all previous ones. */
  put(em: EntityManager, vault: Vault, row: Row, headers: Headers): Promise<void>;
}

/** Headers of `table` are bound to their row. They cannot be opened in another row. */
export function sealedHeaders<Row extends HeaderRow>(table: string): SealedHeaders<Row> {
  const contextOf = (row: Row): SealContext => ({
    organisationId: row.organisationId,
    table,
    column: 'custom_headers',
    rowId: row.id,
  });
  return {
    async open(em, vault, row) {
      if (row.customHeaders === null || row.customHeaders === undefined) return {};
      return JSON.parse(await vault.open(em, contextOf(row), row.customHeaders)) as Headers;
    },
    async put(em, vault, row, headers) {
      const isEmpty = Object.keys(headers).length === 0;
      row.customHeaders = isEmpty ? null : await vault.seal(em, contextOf(row), JSON.stringify(headers));
      row.headerNames = maskedHeaders(headers);
    },
  };
}

/** Returns the sent headers. A masked value that was sent back keeps the previous value. */
export function unchangedHeaders(before: Headers, sent: Headers): Headers {
  const stored: Record<string, string> = {};
  for (const [name, value] of Object.entries(lowerCased(sent))) stored[name] = isMasked(value) ? (before[name] ?? value) : value;
  return stored;
}

/** Headers as reads show them. */
export function maskedHeaders(headers: Headers): Record<string, string> {
  const shown = Object.entries(headers).map(([name, value]) => [
    name,
    isCredentialHeader(name) ? masked(lastCharacters(value)) : value,
  ]);
  return Object.fromEntries(shown);
}

export function lowerCased(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Headers as gateways receive them, bound to `context`. Null if there are none. */
export function headersForGateways(clusterKey: Uint8Array, context: string, headers: Headers): string | null {
  if (Object.keys(headers).length === 0) return null;
  return seal(deriveKey(clusterKey, keyPurposes.transport), JSON.stringify(headers), context);
}
