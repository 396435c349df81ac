import type { AgentCall } from '../contract/plugin/requests/agent-call.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { hasDuplicateKeys } from '../contract/values/json/duplicate-keys.ts';
import { isObject, type JsonObject, parseObject } from '../contract/values/json/json.ts';
import { hasTooManyValues, tooManyValues } from '../contract/values/json/line-limits.ts';
import type { MessageReader, StreamHold } from '../json-rpc/message-reader.ts';
import { errorBodyOf } from './agent-errors.ts';
import type { MessageChecks } from './check-messages.ts';
import { checkedTexts } from './checked-texts.ts';
import { charactersOf, partTexts } from './message-parts.ts';
import { spellingIssue } from './other-spellings.ts';
import { type CardRewrite, rewriteCard } from './rewrite-card.ts';

/** Messages up to this length are read for the record. Longer ones only if they must be checked or changed. */
const recordedLength = 1024 * 1024;

export interface ReaderParts {
  readonly call: AgentCall;
  /** For replies that are cards. */
  readonly card: CardRewrite;
  /** Null: replies pass without checks. */
  readonly checkReply: MessageChecks['checkReply'];
  /** Checks of a stream as a whole, instead of `checkReply`; null for replies that are no streams. */
  readonly checkStream: MessageChecks['checkStream'];
  /** Receives the number of characters in each reply to a message. */
  onCharacters(characters: number): void;
}

/** Reads the replies of an agent: notes task, state and error, runs guardrails, and rewrites cards. */
export function agentReader({ call, card, checkReply, checkStream, onCharacters }: ReaderParts): MessageReader {
  const isCard = call.operation === 'GetExtendedAgentCard';
  const isRpc = call.binding === 'JSONRPC';
  const isCounted = isMessage(call);
  const held: HeldEvent[] = [];
  const wait = (event: HeldEvent): null => {
    if (held.length > 0 || checkedTexts(event.message).length > 0) held.push(event);
    return null;
  };
  return {
    ...(checkStream === null ? {} : { hold: holdOf(held, call, checkStream) }),
    read(json) {
      if (checkReply === null && !isCard && json.length > recordedLength) return null;
      if (hasTooManyValues(json))
        throw new GatewayError('upstream_invalid', { message: `The agent sent a message that has ${tooManyValues}` });
      const message = parseObject(json);
      if (message === null) {
        if (checkReply === null) return null;
        throw new GatewayError('upstream_invalid', { message: 'The agent sent a reply that is no message' });
      }
      const issue = checkReply === null ? null : spellingIssue(message);
      if (issue !== null) throw new GatewayError('upstream_invalid', { message: `The agent sent ${issue}` });
      if (isRpc && isObject(message.error) && typeof message.error.code === 'number') call.errorCode = message.error.code;
      const result = isRpc ? message.result : message;
      // Clients may read the other of two values with one name.
      const isTwice = checkReply !== null && hasDuplicateKeys(json, message);
      if (!isObject(result)) {
        if (checkStream !== null) return wait({ message, isTwice });
        return checkReply === null ? null : checked(message, isTwice, call, checkReply);
      }
      if (isCard) {
        const rewritten = typeof result.name === 'string' ? rewriteCard(result, card) : result;
        return JSON.stringify(isRpc ? { ...message, result: rewritten } : rewritten);
      }
      noteTask(call, result);
      if (isCounted) onCharacters(charactersOf(partTexts(withoutHistory(eventOf(result)))));
      if (checkStream !== null) return wait({ message, isTwice });
      return checkReply === null ? null : checked(message, isTwice, call, checkReply);
    },
  };
}

/** An event of a stream that waits for its checks. */
interface HeldEvent {
  readonly message: JsonObject;
  /** True if an object of it has a name twice. */
  readonly isTwice: boolean;
}

/** Checks a stream at its end. A denial replaces all events that wait. */
function holdOf(held: readonly HeldEvent[], call: AgentCall, check: NonNullable<MessageChecks['checkStream']>): StreamHold {
  return {
    get isHolding() {
      return held.length > 0;
    },
    async release() {
      try {
        const isChanged = await check(held.map(({ message }) => message));
        return held.map(({ message, isTwice }) => (isChanged || isTwice ? JSON.stringify(message) : null));
      } catch (thrown) {
        const error = errorBodyOf(call, toGatewayError(thrown));
        return held.map((_, index) => (index === 0 ? error : ''));
      }
    },
  };
}

/** Runs the guardrails on a reply. A denial becomes the reply. */
async function checked(
  message: JsonObject,
  isTwice: boolean,
  call: AgentCall,
  check: NonNullable<MessageChecks['checkReply']>,
): Promise<string | null> {
  try {
    const isChanged = await check(message);
    return isChanged || isTwice ? JSON.stringify(message) : null;
  } catch (thrown) {
    return errorBodyOf(call, toGatewayError(thrown));
  }
}

/** True for the operations that send a message. */
export function isMessage({ operation }: AgentCall): boolean {
  return operation === 'SendMessage' || operation === 'SendStreamingMessage';
}

/** 1.0 wraps results by their kind. 0.3 names the kind in the result. */
function eventOf(result: JsonObject): JsonObject {
  for (const name of ['task', 'message', 'msg', 'statusUpdate', 'artifactUpdate']) {
    const inner = result[name];
    if (isObject(inner)) return inner;
  }
  return result;
}

/** Earlier messages of a task were counted when they were sent. */
function withoutHistory({ history: _, ...event }: JsonObject): JsonObject {
  return event;
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
