import * as v from 'valibot';
import type { AgentCardQuestion } from '../contract/protocol/agents/agent-cards.ts';
import type { AgentServerDocument } from '../contract/protocol/agents/agents.ts';
import { keyPurposes } from '../contract/protocol/credentials/key-purposes.ts';
import type { MappedSecretDocument } from '../contract/protocol/credentials/secret-reference.ts';
import type { SigningKeyDocument } from '../contract/protocol/credentials/signing-key.ts';
import type { GuardrailDocument, ProviderDocument } from '../contract/protocol/documents.ts';
import { type ExternalTokenRules, externalTokenRules } from '../contract/protocol/mcp/external-tokens.ts';
import type { McpServerDocument } from '../contract/protocol/mcp/mcp.ts';
import { type McpConnectionDocument, mcpTokenContext } from '../contract/protocol/mcp/mcp-connection.ts';
import type { Credentials } from '../contract/provider/provider.ts';
import { deriveKey, type Sealed, Secret, unseal } from '../contract/values/credentials/secret.ts';
import { isObject } from '../contract/values/json/json.ts';

/** Opens the sealed secrets of provider documents; each value becomes a Secret at once. */
export function secretOpener(clusterKey: Uint8Array): (document: ProviderDocument) => Credentials {
  const key = deriveKey(clusterKey, keyPurposes.transport);
  return ({ id, secrets }) => openCredentials(key, secrets, `provider/${id}`);
}

/** Opens the secret parameters of saved guardrails, by index of the check. */
export function guardrailOpener(
  clusterKey: Uint8Array,
): (document: Pick<GuardrailDocument, 'versionId' | 'secrets'>) => ReadonlyMap<number, Secret> {
  const key = deriveKey(clusterKey, keyPurposes.transport);
  return ({ versionId, secrets }) => {
    const opened = openJson<Record<string, unknown>>(key, secrets, `guardrail/${versionId}`);
    return new Map(Object.entries(opened).map(([index, values]) => [Number(index), new Secret(JSON.stringify(values))]));
  };
}

/** Opens the credentials with which the gateway authenticates to a secret manager. */
export function referenceOpener(clusterKey: Uint8Array): (mapped: MappedSecretDocument) => Credentials {
  const key = deriveKey(clusterKey, keyPurposes.transport);
  return ({ id, authSecrets }) => openCredentials(key, authSecrets, `secret-reference/${id}`);
}

function openCredentials(key: Uint8Array, sealed: Sealed | null, context: string): Credentials {
  const opened = openJson<unknown>(key, sealed, context);
  const credentials: Record<string, Secret> = {};
  for (const [name, value] of Object.entries(isObject(opened) ? opened : {})) {
    if (typeof value === 'string') credentials[name] = new Secret(value);
  }
  return credentials;
}

/** Opens the sealed headers of provider documents: name to value. */
export function headerOpener(clusterKey: Uint8Array): (document: ProviderDocument) => Record<string, string> {
  const key = deriveKey(clusterKey, keyPurposes.transport);
  return ({ id, headers = null }) => openJson(key, headers, `provider/${id}/headers`);
}

/** Opens the sealed headers of MCP servers: name to value. */
export function mcpHeaderOpener(clusterKey: Uint8Array): (document: McpServerDocument) => Record<string, string> {
  const key = deriveKey(clusterKey, keyPurposes.transport);
  return ({ id, headers }) => openJson(key, headers, `mcp-server/${id}`);
}

/** Opens the access tokens of connections to MCP servers. */
export function mcpTokenOpener(clusterKey: Uint8Array): (document: McpConnectionDocument) => string {
  const key = deriveKey(clusterKey, keyPurposes.transport);
  return (document) => unseal(key, document.token, mcpTokenContext(document)).toString('utf8');
}

/** Opens the sealed headers of A2A agents: name to value. */
export function agentHeaderOpener(clusterKey: Uint8Array): (document: AgentServerDocument) => Record<string, string> {
  const key = deriveKey(clusterKey, keyPurposes.transport);
  return ({ id, headers }) => openJson(key, headers, `agent-server/${id}`);
}

/** Opens the sealed headers with which the control plane has a card fetched. */
export function cardHeaderOpener(clusterKey: Uint8Array): (question: AgentCardQuestion) => Record<string, string> {
  const key = deriveKey(clusterKey, keyPurposes.transport);
  return ({ organisationId, headers }) => openJson(key, headers, `agent-card/${organisationId}`);
}

/** Opens the rules for external tokens of an MCP server; null: there are none. Throws if they have another form. */
export function externalTokenOpener(clusterKey: Uint8Array): (document: McpServerDocument) => ExternalTokenRules | null {
  const key = deriveKey(clusterKey, keyPurposes.transport);
  return ({ id, externalTokens = null }) =>
    externalTokens === null ? null : v.parse(externalTokenRules, openJson(key, externalTokens, `mcp-server/${id}/tokens`));
}

/** Opens the private key that signs the identity of callers. */
export function signingKeyOpener(clusterKey: Uint8Array): (entry: SigningKeyDocument['keys'][number]) => string {
  const key = deriveKey(clusterKey, keyPurposes.transport);
  return ({ publicKey, privateKey }) => unseal(key, privateKey, `signing-key/${publicKey.kid}`).toString('utf8');
}

/** Opens the sealed headers of the models of provider documents. */
export function modelHeaderOpener(
  clusterKey: Uint8Array,
): (document: ProviderDocument) => Record<string, Record<string, string>> {
  const key = deriveKey(clusterKey, keyPurposes.transport);
  return ({ id, models }) => openJson(key, models?.headers ?? null, `provider/${id}/models`);
}

/**
 * Returns the opened object; an empty one if there is nothing to open. Throws if the text was moved, changed or sealed with
 * another key.
 */
function openJson<Value>(key: Uint8Array, sealed: Sealed | null, context: string): Value {
  return sealed === null ? ({} as Value) : JSON.parse(unseal(key, sealed, context).toString('utf8'));
}
