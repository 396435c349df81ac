import type { McpCall } from '../../contract/plugin/requests/mcp-call.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { hasDuplicateKeys } from '../../contract/values/json/duplicate-keys.ts';
import { isEmptyObject, isObject, type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { hasTooManyValues, tooManyValues } from '../../contract/values/json/line-limits.ts';
import { after, isPromise, type Maybe } from '../../contract/values/maybe.ts';
import { hidingReader } from '../../json-rpc/hiding-reader.ts';
import type { MessageReader } from '../../json-rpc/message-reader.ts';
import { errorBody, isAmbiguous, otherMember, RpcError } from '../../json-rpc/messages.ts';
import type { ToolChecks } from '../../json-rpc/tool-guardrails.ts';
import { isToolResultNotice } from '../check-task.ts';
import { isFiltered, withoutDisabled } from '../lists/capabilities.ts';
import { messageText } from './message-text.ts';
import type { ServerSettings } from './server-settings.ts';

/** Messages up to this length are read for the record. Longer ones only if their content must be checked. */
const recordedLength = 64 * 1024;

export interface Reading {
  readonly server: ServerSettings;
  readonly call: McpCall;
  /** Null: all messages pass unread. */
  readonly checks: Pick<ToolChecks, 'checkResult' | 'checkOther'> | null;
  /**
   * The stream of a session, which may repeat replies that its client has missed: `open` passes them, `checked` drops them, because they
   * may need checks. Null: the reply to a message.
   */
  readonly session: 'open' | 'checked' | null;
  /** True if notices with results of tools are dropped, because results must be checked. */
  readonly dropsTaskResults?: boolean;
  /** True for the JSON reply to a request: another message cannot be there. Replies that are too long to be read pass. */
  readonly isReply?: boolean;
  /** Called when the reply to the request was read; with null for a message that is too long to be read, which may be the reply. */
  readonly onReply?: (message: JsonObject | null) => void;
  /** Called with a denied question of the server, which waits for a reply. Absent: it gets none. */
  readonly refuse?: (question: JsonObject) => void;
  /** Called with each question of the server in a session of the gateway, where no client can reply. Absent: questions pass. */
  readonly replyTo?: ((question: JsonObject) => void) | undefined;
}

/** The member of a question that no response has. Texts contain its quotes only behind a backslash, so a search of the text finds few other messages. */
const methodMember = '"method"';

/** Reads the messages of a server, without the credentials that it repeats in failures. */
export function messageReader(reading: Reading): MessageReader {
  return hidingReader(readerOf(reading), reading.server.headers);
}

function readerOf(reading: Reading): MessageReader {
  const { server, call, session, dropsTaskResults, isReply, onReply, refuse, replyTo } = reading;
  const { checkResult = null, checkOther = null } = reading.checks ?? {};
  /** True after a denied question of the server: the client has the denial as its reply. */
  let isEnded = false;
  const isChecked = checkResult !== null || checkOther !== null;
  const mustRead = isChecked || isFiltered(server, call.method) || session === 'checked' || dropsTaskResults;
  const checked = (message: JsonObject): Maybe<string | null> => {
    if (!isObject(message.result)) return null;
    return after(withoutDisabled(server, call.method ?? '', message.result), (result) =>
      result === message.result ? null : messageText({ ...message, result }),
    );
  };
  const onQuestion = (question: JsonObject): void => {
    refuse?.(question);
    // The stream of a session belongs to no request.
    if (call.id === null) return;
    isEnded = true;
    onReply?.(question);
  };
  return {
    read(json) {
      if (isEnded) return '';
      call.replyLength += json.length;
      const mayAsk = (): boolean => replyTo !== undefined && json.includes(methodMember);
      if (!mustRead && json.length > recordedLength && !mayAsk()) {
        onReply?.(null);
        return null;
      }
      const isExcessive = hasTooManyValues(json);
      if (isExcessive && (mustRead || isReply)) throw invalid(`a reply that has ${tooManyValues}`);
      const message = isExcessive ? null : parseObject(json);
      if (message === null) {
        if (mustRead || isReply) throw invalid('a reply that is no message');
        return null;
      }
      if (dropsTaskResults && isToolResultNotice(message)) return '';
      // A client could take these for the response, and read a result that was not checked.
      if (isAmbiguous(message) || otherMember(message) !== null) return mustRead ? '' : null;
      // Clients may read the other of two values with one key.
      const same = (text: string | null): string | null =>
        text === null && hasDuplicateKeys(json, message) ? messageText(message) : text;
      // Notifications and requests of the server belong to no request of the client.
      if (message.result === undefined && message.error === undefined) {
        if (isReply) throw withoutResult();
        if (replyTo !== undefined && message.id !== undefined && typeof message.method === 'string') {
          replyTo(message);
          return '';
        }
        if (!isChecked) return null;
        if (typeof message.method !== 'string') return '';
        const read = checkOther === null ? null : checkedMessageOfServer(message, call, checkOther, onQuestion);
        return isPromise(read) ? read.then(same) : same(read);
      }
      if (message.id === null || isErrorWithoutId(message)) {
        if (!isObject(message.error)) return mustRead || isReply ? '' : null;
        if (checkResult === null) return null;
        const error = guarded(message, call, checkResult);
        return isPromise(error) ? error.then(same) : same(error);
      }
      if (message.id !== call.id) return session === 'open' ? null : '';
      onReply?.(message);
      note(call, message);
      const read = checkResult === null ? checked(message) : guarded(message, call, checkResult);
      if (!mustRead) return read;
      return isPromise(read) ? read.then(same) : same(read);
    },
  };
}

/** The error for a reply to a request that is another message. */
export function withoutResult(): GatewayError {
  return invalid('a reply without a result and without an error');
}

function invalid(what: string): GatewayError {
  return new GatewayError('upstream_invalid', { message: `The MCP server sent ${what}` });
}

type Check = NonNullable<ToolChecks['checkResult']>;

/** Runs the guardrails on a result or an error. A denial becomes the reply. */
function guarded(message: JsonObject, call: McpCall, check: Check): Maybe<string | null> {
  const { jsonrpc, id, result, error, ...others } = message;
  const given = isObject(result) ? result : result === undefined ? { error } : { result };
  const sent = (changed: JsonObject): string | null => {
    // Further members are not checked.
    if (changed === given && isEmptyObject(others)) return null;
    return messageText({ jsonrpc, id, ...(isObject(result) ? { result: changed } : changed) });
  };
  return concluded(
    () => check(call.id, given),
    sent,
    (thrown) => denialOf(thrown, call),
  );
}

/** Runs the guardrails on a notification or a question of the server. A denied question ends the request of the client. */
function checkedMessageOfServer(
  message: JsonObject,
  call: McpCall,
  check: Check,
  onQuestion: (question: JsonObject) => void,
): Maybe<string | null> {
  // A block of content, whose bytes are not read.
  const { jsonrpc, id, method, params, ...others } = message;
  const given = { content: [params] };
  const sent = (changed: JsonObject): string | null => {
    // Further members are not checked.
    if (changed === given && isEmptyObject(others)) return null;
    return messageText({ jsonrpc, id, method, params: (changed.content as unknown[])[0] });
  };
  const denied = (thrown: unknown): string => {
    const denial = denialOf(thrown, call);
    if (id === undefined) return '';
    onQuestion(message);
    return call.id === null ? '' : denial;
  };
  return concluded(() => check(call.id, given), sent, denied);
}

function denialOf(thrown: unknown, call: McpCall): string {
  if (!(thrown instanceof RpcError)) throw thrown;
  call.errorCode = thrown.rpcCode;
  return errorBody(thrown.id, thrown.rpcCode, thrown.message, thrown.data);
}

function concluded(
  run: () => Maybe<JsonObject>,
  sent: (changed: JsonObject) => string | null,
  denied: (thrown: unknown) => string,
): Maybe<string | null> {
  try {
    const verdict = run();
    return isPromise(verdict) ? verdict.then(sent).catch(denied) : sent(verdict);
  } catch (thrown) {
    return denied(thrown);
  }
}

/** Errors about requests that a server could not read may leave out their id since the revision 2025-11-25. */
function isErrorWithoutId({ jsonrpc, id, error, result }: JsonObject): boolean {
  return jsonrpc === '2.0' && id === undefined && isObject(error) && result === undefined;
}

function note(call: McpCall, { error, result }: JsonObject): void {
  if (isObject(error) && typeof error.code === 'number') call.errorCode = error.code;
  if (isObject(result) && result.isError === true) call.isToolError = true;
}
