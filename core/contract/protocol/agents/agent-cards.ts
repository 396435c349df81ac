import * as v from 'valibot';

/** Path of a gateway on which the control plane asks for the card of an agent. */
export const agentCardPath = '/internal/agent-cards';

/** Maximum milliseconds to fetch a card. Requests of the control plane end after 2.8 s. */
export const agentCardMs = 2_000;

export const agentCardQuestion = v.object({
  organisationId: v.string(),
  url: v.string(),
  /** Headers by name, JSON, sealed with the transport key, aad `agent-card/<organisation id>`; null: none. */
  headers: v.nullable(v.string()),
});
export type AgentCardQuestion = v.InferOutput<typeof agentCardQuestion>;

export const agentCardReply = v.object({
  /** Null if there is a card. */
  error: v.nullable(v.string()),
  /** Status of the last reply of the agent; null if there was none. */
  status: v.nullable(v.number()),
  durationMs: v.number(),
  /** Address of the card; null without a card. */
  url: v.nullable(v.string()),
  card: v.nullable(v.record(v.string(), v.unknown())),
});
export type AgentCardReply = v.InferOutput<typeof agentCardReply>;
