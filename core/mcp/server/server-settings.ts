import { hash } from 'node:crypto';
import type { CapabilityType, ForwardHeaders, McpServerDocument } from '../../contract/protocol/mcp/mcp.ts';
import type { RestApi, RestOperation } from '../../contract/protocol/mcp/mcp-rest.ts';
import type { CallAddress, ParseUrl } from '../../contract/values/addresses/call-address.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import type { UsedSecrets } from '../headers/mapped-headers.ts';
import { type ToolPins, toolPins } from '../pinning/tool-pins.ts';
import { formsOf } from './uri-forms.ts';
import { acceptedBy } from './uri-templates.ts';

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
    resource_template: new Set(disabled.resource_template),
  };
  const isResourceEnabled = resourceFilter(document);
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
    hasFilters: document.pins !== null || allowed !== null || Object.values(disabled).some((names) => names.length > 0),
    isEnabled(type, name) {
      if (type === 'resource') return isResourceEnabled(name);
      return !off[type].has(name) && (type !== 'tool' || allowed === null || allowed.has(name));
    },
    rest: document.rest === null ? null : restTools(document.rest),
    ...toolPins(document.pins),
  };
}

/** Returns a function that is true for a URI whose resource is not disabled. Sets and templates are prepared when it is called first. */
function resourceFilter({ disabled, listedResources = [] }: McpServerDocument): (uri: string) => boolean {
  const { resource, resource_template: templates } = disabled;
  if (resource.length === 0 && templates.length === 0) return () => true;
  const allForms = (uris: readonly string[]) => new Set(uris.flatMap((uri) => [...formsOf(uri)]));
  const prepareOnce = () => ({ off: allForms(resource), listed: allForms(listedResources), isAccepted: acceptedBy(templates) });
  let prepared: ReturnType<typeof prepareOnce> | null = null;
  return (uri) => {
    prepared ??= prepareOnce();
    const { off, listed, isAccepted } = prepared;
    for (const form of formsOf(uri)) {
      // The client fills in a template itself, so only the URI shows that it uses a disabled one.
      if (off.has(form) || (!listed.has(form) && isAccepted(form))) return false;
    }
    return true;
  };
}

function restTools({ title, operations }: RestApi): RestTools {
  const byName = new Map(operations.map((operation) => [operation.tool.name, operation]));
  return { title, tools: operations.map(({ tool }) => tool), byName };
}
