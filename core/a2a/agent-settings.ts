import type { AgentBinding, AgentServerDocument } from '../contract/protocol/agents/agents.ts';
import type { CallAddress, ParseUrl } from '../contract/values/addresses/call-address.ts';
import { withoutTrailingSlashes } from '../contract/values/addresses/trailing-slashes.ts';

/** An address in the form of calls. `path` has no slash at its end. */
export interface AgentAddress {
  readonly origin: string;
  readonly path: string;
  /** Without `?`; empty if there is none. */
  readonly query: string;
}

/** The document of an agent, prepared for calls. */
export interface AgentSettings {
  readonly document: AgentServerDocument;
  /** Headers of every call, by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Returns the address of a binding and a version of the protocol, from the stored card. Without one it is the address that was stored
   * for the agent. Throws GatewayError `invalid_custom_host`.
   */
  addressOf(binding: AgentBinding, version: string): AgentAddress;
}

export interface SettingsParts {
  /** Returns the opened headers of a document. */
  openHeaders(document: AgentServerDocument): Record<string, string>;
  /** For URLs that are called unchanged. */
  readonly parseUrl: ParseUrl;
}

/** Returns the settings of documents. A document is prepared once. */
export function agentSettings({ openHeaders, parseUrl }: SettingsParts): (document: AgentServerDocument) => AgentSettings {
  const prepared = new WeakMap<AgentServerDocument, AgentSettings>();
  return (document) => {
    let settings = prepared.get(document);
    if (!settings) {
      settings = prepare(document, openHeaders(document), parseUrl);
      prepared.set(document, settings);
    }
    return settings;
  };
}

function prepare(document: AgentServerDocument, headers: Record<string, string>, parseUrl: ParseUrl): AgentSettings {
  const parsed = new Map<string, AgentAddress>();
  return {
    document,
    headers,
    addressOf(binding, version) {
      const offered = document.interfaces.filter((one) => one.binding === binding);
      const { url } = offered.find((one) => one.version === version) ?? offered[0] ?? document;
      let address = parsed.get(url);
      if (!address) {
        address = addressFrom(parseUrl(url));
        parsed.set(url, address);
      }
      return address;
    },
  };
}

/** Separates the query of an agent's URL, because paths of the protocol are added before it. */
export function addressFrom({ origin, path }: CallAddress): AgentAddress {
  const [before = '', query = ''] = path.split('?', 2);
  return { origin, path: withoutTrailingSlashes(before), query };
}
