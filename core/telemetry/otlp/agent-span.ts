import type { AgentRecord } from '../../contract/plugin/requests/agent-call.ts';
import { attributesOf, type KeyValue } from './attributes.ts';
import { agent, genAi } from './gen-ai.ts';

/** Describes a call of an A2A agent: the name of its span, its attributes, and its error, which may come with the status 200. */
export function agentSpan(call: AgentRecord): { name: string; attributes: KeyValue[]; error: string | null } {
  const { operation, server, version, taskId, contextId, taskState, binding, errorCode } = call;
  const isMessage = operation === 'SendMessage' || operation === 'SendStreamingMessage';
  const error = errorCode === null ? null : String(errorCode);
  return {
    name: isMessage ? `${agent.invoke} ${server}` : (operation ?? 'a2a'),
    attributes: attributesOf({
      [genAi.operation]: isMessage ? agent.invoke : null,
      [agent.name]: server,
      [agent.conversation]: contextId,
      'svc.a2a.operation': operation,
      'svc.a2a.binding': binding,
      'svc.a2a.version': version,
      'svc.a2a.task.id': taskId,
      'svc.a2a.task.state': taskState,
      'rpc.response.status_code': error,
    }),
    error,
  };
}
