import { hash } from 'node:crypto';
import type { CapabilityType, ForwardHeaders, McpServerDocument } from '../../contract/protocol/mcp/mcp.ts';
import type { RestApi, RestOperation } from '../../contract/protocol/mcp/mcp-rest.ts';
import type { CallAddress, ParseUrl } from '../../contract/values/addresses/call-address.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import type { UsedSecrets } from '../headers/mapped-headers.ts';
import { type ToolPins, toolPins } from '../pinning/tool-pins.ts';
import { expansionsOf } from './uri-templates.ts';

/** The document of a server, prepared for calls. */
export interface ServerSettings extends ToolPins {
  readonly document: McpServerDocument;
  readonly origin: string;
  /** Path with query. */
  readonly path: string;
  /** Headers of every call, by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Values of secret managers in the headers; null: there are none. */
  readonly secrets: UsedSecrets | null;
  readonly forwardHeaders: ForwardHeaders | null;
  /** Header with the external token of the caller, which is not sent on; null: there is none. */
  readonly tokenHeader: string | null;
  /** Claims of the external token of the caller; null: the server needs none. */
  readonly externalClaims: JsonObject | null;
  /** Identifies URL and headers: sessions end when they change. */
  readonly fingerprint: string;
  /** True if lists must be filtered. */
  readonly hasFilters: boolean;
  /** The tools of a REST API; null for MCP servers. */
  readonly rest: RestTools | null;
  isEnabled(type: CapabilityType, name: string): boolean;
}

export interface RestTools {
  readonly title: string;
  readonly tools: readonly JsonObject[];
  readonly byName: ReadonlyMap<string, RestOperation>;
}

export interface SettingsParts {
  /** Returns the opened headers of a document. */
  openHeaders(document: McpServerDocument): Record<string, string>;
  /** For URLs that are called unchanged. */
  readonly parseUrl: ParseUrl;
}

/** Returns the settings of documents. A document is prepared once. */
export function serverSettings({ openHeaders, parseUrl }: SettingsParts): (document: McpServerDocument) => ServerSettings {
  const prepared = new WeakMap<McpServerDocument, ServerSettings>();
  return (document) => {
    let settings = prepared.get(document);
    if (!settings) {
      settings = prepare(document, openHeaders(document), parseUrl(document.url));
      prepared.set(document, settings);
    }
    return settings;
  };
}

function prepare(document: McpServerDocument, headers: Record<string, string>, { origin, path }: CallAddress): ServerSettings {
  const { url, transport, authType, forwardHeaders, toolsAllowed, disabled } = document;
  const off = {
    tool: new Set(disabled.tool),
    prompt: new Set(disabled.prompt),
    resource: new Set(disabled.resource),
    resource_template: new Set(disabled.resource_template),
  };
  const listed = new Set(document.listedResources);
  const isExpansion = expansionsOf(disabled.resource_template);
  const allowed = toolsAllowed === null ? null : new Set(toolsAllowed);
  const sorted = Object.entries(headers).sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    document,
    origin,
    path,
    headers,
    secrets: null,
    forwardHeaders,
    tokenHeader: null,
    externalClaims: null,
    fingerprint: hash('sha256', JSON.stringify([url, transport, authType, sorted]), 'base64url').slice(0, 22),
    hasFilters: document.pins !== null || allowed !== null || Object.values(off).some((names) => names.size > 0),
    isEnabled(type, name) {
      if (off[type].has(name)) return false;
      if (type === 'tool') return allowed === null || allowed.has(name);
      // The client fills in a template itself, so only the URI shows that it uses a disabled one.
      return type !== 'resource' || listed.has(name) || !isExpansion(name);
    },
    rest: document.rest === null ? null : restTools(document.rest),
    ...toolPins(document.pins),
  };
}

function restTools({ title, operations }: RestApi): RestTools {
  const byName = new Map(operations.map((operation) => [operation.tool.name, operation]));
  return { title, tools: operations.map(({ tool }) => tool), byName };
}
