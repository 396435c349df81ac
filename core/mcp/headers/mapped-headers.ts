import { hash } from 'node:crypto';
import type { MappedValues, SecretManagers } from '../../contract/protocol/credentials/secret-managers.ts';
import type { McpServerDocument } from '../../contract/protocol/mcp/mcp.ts';
import { isProtocolHeader } from '../../contract/protocol/mcp/mcp-headers.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isUnforwardedHeader } from '../../contract/values/http/connection-headers.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import type { ServerSettings } from '../server/server-settings.ts';

/** Headers of servers that are read from secret managers. */
export interface MappedHeaders {
  /**
   * Returns the settings with these headers. Throws GatewayError `secret_unavailable` if a value cannot be read or is no header: a server is
   * never called without one of its headers.
   */
  complete(server: ServerSettings): Promise<ServerSettings>;
  /** Reads the values again after the server rejected them. Resolves with true if they differ. Never rejects. */
  renew(used: UsedSecrets): Promise<boolean>;
}

/** The values in the headers of a server, and the document that names them. */
export interface UsedSecrets {
  readonly document: McpServerDocument;
  readonly values: MappedValues;
}

/** Adds headers whose values are in secret managers. The same values give the same settings, so that connections can be shared. */
export function createMappedHeaders(managers: Pick<SecretManagers, 'valuesOf' | 'renew'>): MappedHeaders {
  const completed = new WeakMap<MappedValues, ServerSettings>();
  return {
    async complete(server) {
      const { document } = server;
      const values = await managers.valuesOf(document);
      let known = completed.get(values);
      if (!known) {
        known = { ...withHeaders(server, headersOf(document, values)), secrets: { document, values } };
        completed.set(values, known);
      }
      return known;
    },
    renew: ({ document, values }) => managers.renew(document, values),
  };
}

/** Sessions end with a value. */
function withHeaders(server: ServerSettings, mapped: Readonly<Record<string, string>>): ServerSettings {
  const text = JSON.stringify([server.fingerprint, mapped]);
  return { ...server, headers: { ...server.headers, ...mapped }, fingerprint: hash('sha256', text, 'base64url').slice(0, 22) };
}

/** Passthrough headers replace the others. */
function headersOf(document: McpServerDocument, { credentials, settings }: MappedValues): Record<string, string> {
  const all = (document.mappedSecrets ?? []).toSorted((one, other) => rank(one.field) - rank(other.field));
  const headers: Record<string, string> = {};
  for (const { field, target, slug } of all) {
    const dot = field.indexOf('.');
    const group = dot < 0 ? settings[field] : { [field.slice(dot + 1)]: credentials[field]?.reveal() };
    if (!isObject(group) || !areHeaders(group)) {
      const text = `${document.slug}: ${target} comes from the secret reference ${slug}, whose value is no header`;
      throw new GatewayError('secret_unavailable', { message: text });
    }
    for (const [name, value] of Object.entries(group)) headers[name.toLowerCase()] = String(value);
  }
  return headers;
}

function rank(field: string): number {
  return field.startsWith('passthrough') ? 1 : 0;
}

function areHeaders(group: JsonObject): boolean {
  return Object.entries(group).every(([sent, value]) => {
    const name = sent.toLowerCase();
    const isName = /^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/.test(name) && !isProtocolHeader(name) && !isUnforwardedHeader(name);
    return isName && typeof value === 'string' && /^[\x20-\x7e]{1,16384}$/.test(value);
  });
}
