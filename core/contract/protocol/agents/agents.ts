import * as v from 'valibot';
import { isObject, type JsonObject } from '../../values/json/json.ts';
import { accessList } from '../access-list.ts';
import { circuit, forwardHeaders } from '../mcp/mcp.ts';

/** Authentication at the agent: none, or fixed headers. */
export const agentAuthTypes = ['none', 'headers'] as const;
export type AgentAuthType = (typeof agentAuthTypes)[number];

/** Bindings of A2A that the gateway serves. gRPC is not among them. */
export const agentBindings = ['JSONRPC', 'HTTP+JSON'] as const;
export type AgentBinding = (typeof agentBindings)[number];

/** Maximum length of an agent's card in bytes. */
export const cardBytesMax = 1_000_000;

/** Returns the required member that a card does not have; null if it is complete. Cards of 1.0 have interfaces instead of `url`. */
export function missingCardMember(card: JsonObject): string | null {
  if (typeof card.name !== 'string' || card.name === '') return 'name';
  if (typeof card.url === 'string' && card.url !== '') return null;
  const interfaces = Array.isArray(card.supportedInterfaces) ? card.supportedInterfaces : [];
  return interfaces.some((one) => isObject(one) && typeof one.url === 'string' && one.url !== '') ? null : 'url';
}

/** An address of an agent, as its card names it. */
const agentInterface = v.object({
  binding: v.picklist(agentBindings),
  url: v.string(),
  /** `Major.Minor`; null if the card has none. */
  version: v.nullable(v.string()),
});
export type AgentInterface = v.InferOutput<typeof agentInterface>;

/** An A2A agent of a workspace, merged with its integration. */
export const agentServerDocument = v.object({
  id: v.string(),
  slug: v.string(),
  organisationId: v.string(),
  workspaceId: v.string(),
  integrationId: v.string(),
  /** The address that was stored. It serves every binding that `interfaces` does not have. */
  url: v.string(),
  /** Addresses of the stored card that the gateway may use. */
  interfaces: v.array(agentInterface),
  authType: v.picklist(agentAuthTypes),
  /** JSON of the headers of every call (`{"<name>": "<value>"}`), sealed with the transport key, aad `agent-server/<id>`. */
  headers: v.nullable(v.string()),
  forwardHeaders: v.nullable(forwardHeaders),
  /** The stored card as the agent wrote it; null: the gateway asks the agent. */
  card: v.nullable(v.record(v.string(), v.unknown())),
  /** Milliseconds to the head of a reply, and between two chunks of it; null or absent: REQUEST_TIMEOUT. */
  timeoutMs: v.optional(v.nullable(v.number())),
  /** Absent or null: the agent has no circuit. */
  circuit: v.optional(v.nullable(circuit)),
  /** Ids of skills that either level disables. */
  disabledSkills: v.array(v.string()),
  /** Guardrails on messages (`input`) and replies (`output`), by id. */
  guardrails: v.array(v.object({ id: v.string(), input: v.boolean(), output: v.boolean(), tools: v.null() })),
  access: accessList,
});
export type AgentServerDocument = v.InferOutput<typeof agentServerDocument>;
