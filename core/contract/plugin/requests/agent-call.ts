import * as v from 'valibot';
import { agentBindings } from '../../protocol/agents/agents.ts';

const text = v.pipe(v.string(), v.maxLength(2_048));

/** The A2A part of a record: one per HTTP request to an agent. */
export const agentRecord = v.object({
  serverId: v.string(),
  /** Slug of the agent. */
  server: v.string(),
  integrationId: v.string(),
  binding: v.picklist(agentBindings),
  /** Operation of A2A 1.0 (`SendMessage`), for both versions; null if it is unknown. */
  operation: v.nullable(text),
  /** Version of the protocol that the client stated; null if it stated none, which means 0.3. */
  version: v.nullable(text),
  taskId: v.nullable(text),
  contextId: v.nullable(text),
  /** Last state of the task in the reply, as the agent wrote it; null if there was none. */
  taskState: v.nullable(text),
  /** Credential of the caller. */
  callerAuth: v.picklist(['api_key', 'jwt']),
  /** Authentication to the agent. */
  upstreamAuth: v.string(),
  /** JSON-RPC code of an error reply; null for results and for REST. */
  errorCode: v.nullable(v.number()),
});
export type AgentRecord = v.InferOutput<typeof agentRecord>;

/** The A2A call of a request. The endpoint's handler sets the fields step by step. */
export interface AgentCall extends AgentRecord {
  /** Id of the JSON-RPC request; null for REST and before the message is read. */
  id: string | number | null;
}
