import type { AgentCall } from '../contract/plugin/agent-call.ts';
import { isObject, type JsonObject, parseObject } from '../contract/values/json.ts';
import type { MessageReader } from '../mcp/server-messages.ts';
import { type CardRewrite, rewriteCard } from './rewrite-card.ts';

/** Messages up to this length are read for the record. Longer ones only if they must be changed. */
const recordedLength = 1024 * 1024;

export interface ReaderParts {
  readonly call: AgentCall;
  /** For replies that are cards. */
  readonly card: CardRewrite;
  /** Receives the text of replies to messages. */
  onText(text: string): void;
}

/** Reads the replies of an agent: notes task, state and error, and rewrites cards. */
export function agentReader({ call, card, onText }: ReaderParts): MessageReader {
  const mustRead = call.operation === 'GetExtendedAgentCard';
  const hasText = call.operation === 'SendMessage' || call.operation === 'SendStreamingMessage';
  return {
    read(json) {
      if (!mustRead && json.length > recordedLength) return null;
      const message = parseObject(json);
      if (message === null) return null;
      const isRpc = call.binding === 'JSONRPC';
      if (isRpc && isObject(message.error) && typeof message.error.code === 'number') call.errorCode = message.error.code;
      const result = isRpc ? message.result : message;
      if (!isObject(result)) return null;
      if (mustRead) {
        const rewritten = typeof result.name === 'string' ? rewriteCard(result, card) : result;
        return JSON.stringify(isRpc ? { ...message, result: rewritten } : rewritten);
      }
      noteTask(call, result);
      if (hasText) for (const text of textsOf(eventOf(result))) onText(text);
      return null;
    },
  };
}

/** Texts of a message, a task, or an event, without earlier messages of the task. */
function* textsOf(event: JsonObject): Generator<string> {
  yield* textsOfParts(event.parts);
  if (isObject(event.status) && isObject(event.status.message)) yield* textsOfParts(event.status.message.parts);
  const artifacts = Array.isArray(event.artifacts) ? event.artifacts : [event.artifact];
  for (const artifact of artifacts) if (isObject(artifact)) yield* textsOfParts(artifact.parts);
}

/** Texts of the message that a client sends. */
export function* textsOfRequest(params: JsonObject): Generator<string> {
  if (isObject(params.message)) yield* textsOfParts(params.message.parts ?? params.message.content);
}

function* textsOfParts(parts: unknown): Generator<string> {
  if (!Array.isArray(parts)) return;
  for (const part of parts) {
    if (!isObject(part)) continue;
    if (typeof part.text === 'string') yield part.text;
    // 0.3 has `data`, 1.0 has any JSON value in it.
    else if (part.data !== undefined) yield JSON.stringify(part.data);
  }
}

/** 1.0 wraps results by their kind. 0.3 names the kind in the result. */
function eventOf(result: JsonObject): JsonObject {
  for (const name of ['task', 'message', 'msg', 'statusUpdate', 'artifactUpdate']) {
    const inner = result[name];
    if (isObject(inner)) return inner;
  }
  return result;
}

function noteTask(call: AgentCall, result: JsonObject): void {
  const event = eventOf(result);
  const { status } = event;
  const taskId = event.taskId ?? (isObject(status) ? event.id : undefined);
  if (typeof taskId === 'string' && taskId !== '') call.taskId = taskId.slice(0, 2_048);
  if (typeof event.contextId === 'string' && event.contextId !== '') call.contextId = event.contextId.slice(0, 2_048);
  if (isObject(status) && typeof status.state === 'string') call.taskState = status.state.slice(0, 2_048);
}

/** Notes the task and the context that a request names. */
export function noteRequest(call: AgentCall, params: JsonObject): void {
  const message = isObject(params.message) ? params.message : {};
  const taskId = message.taskId ?? params.taskId ?? (call.operation === 'ListTasks' ? undefined : params.id);
  const contextId = message.contextId ?? params.contextId;
  if (typeof taskId === 'string' && taskId !== '') call.taskId = taskId.slice(0, 2_048);
  if (typeof contextId === 'string' && contextId !== '') call.contextId = contextId.slice(0, 2_048);
}
