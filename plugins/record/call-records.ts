import type { AgentCall, AgentRecord } from '../../core/contract/plugin/agent-call.ts';
import type { McpCall, McpRecord } from '../../core/contract/plugin/mcp-call.ts';

// The id of the message is no part of the record. A copy without it takes five times as long.

export function agentOf(call: AgentCall): AgentRecord & { id: undefined } {
  return { ...call, id: undefined };
}

export function mcpOf(call: McpCall): McpRecord & { id: undefined } {
  return { ...call, id: undefined };
}
