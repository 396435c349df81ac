import { GatewayError } from '../../contract/values/errors/errors.ts';
import { findHeader } from '../../contract/values/http/http.ts';
import { byName } from '../../contract/values/json/by-name.ts';
import { isObject, type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { framesIn } from '../../contract/values/text/event-frames.ts';
import { dataOf, isEventStream } from '../../contract/values/text/event-text.ts';
import { textOf } from '../../contract/values/text/utf8.ts';
import { passedHeaders } from '../../json-rpc/headers.ts';
import { type ClientMessage, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import { messageBytesMax, relayJson } from '../../json-rpc/relay-reply.ts';
import { requireUsable } from '../../json-rpc/require-usable.ts';
import type { ExchangeStream } from '../../pipeline/attempt/exchange-stream.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import type { Outgoing, Work } from '../exchange.ts';
import { passedNames, requireMessages } from '../headers/upstream-reply.ts';
import { parsedMessage } from '../server/message-text.ts';
import { messageReader, withoutResult } from '../server/server-messages.ts';
import { askingMethods } from '../sessions/question-stream.ts';
import { sendAuthorised } from '../sessions/send-in-session.ts';
import type { SessionState, StatelessClient } from '../sessions/session-id.ts';
import { type EventReply, eventReply, onDisconnect, readMessage, sendRead } from '../sse/sse-reply.ts';
import { forSessions, translatedReader } from './translated-reader.ts';

/** The capability of a client that a question needs. */
const needed: Readonly<Record<string, string>> = byName({
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
});
/** Times that a server may ask for input during one request. */
const roundsMax = 10;
/** Questions of one round. */
const questionsMax = 32;

/** Returns the session if a server without sessions may ask its client for input with the result of this message; else null. */
export function askedSession(session: SessionState | null, message: ClientMessage | null): SessionState | null {
  if (!session?.client || message?.kind !== 'request' || !askingMethods.has(message.method)) return null;
  const { capabilities } = session.client;
  return Object.values(needed).some((name) => capabilities[name] !== undefined) ? session : null;
}

/**
 * Serves a request of a client with a session at a server without sessions, which asks for input with a result (`input_required`). The client
 * gets the questions as requests before its reply, as servers with sessions ask, and the request is sent again with the replies.
 */
export async function exchangeAsking(work: Work, outgoing: Outgoing, session: SessionState): Promise<AttemptReply> {
  const { call, server } = work;
  const message = outgoing.message as ClientMessage;
  // Progress and log messages reach the client before its reply.
  const reply = eventReply(work, call.id);
  let next = outgoing;
  try {
    for (let round = 0; ; round++) {
      const { status, headers, stream } = await sendAuthorised(work, next, session);
      requireUsable('MCP server', status, stream);
      requireMessages(status, headers, stream);
      const reader = messageReader({ server, call, checks: outgoing.checks, session: null });
      const events = sendRead(reply, reader);
      if (status !== 200 && round === 0) {
        return await relayJson(
          status,
          passedHeaders(headers, passedNames),
          stream,
          translatedReader(reader, 'sessions', call.method),
          { sentStatus: status < 500 ? 200 : status },
        );
      }
      const found = isEventStream(findHeader(headers, 'content-type'))
        ? await lastOf(stream, call.id, events.send)
        : await wholeOf(stream);
      if (found === null)
        throw new GatewayError('upstream_invalid', { message: `The MCP server sent no result (status ${status})` });
      if (found.result === undefined && found.error === undefined) throw withoutResult();
      await events.sent();
      const text = await readMessage(reader, found);
      if (text === '') throw new GatewayError('upstream_invalid', { message: 'The MCP server replied to another request' });
      const result = parseObject(text)?.result;
      if (!isObject(result) || result.resultType !== 'input_required') return reply.end(forSessions(text));
      if (round === roundsMax) throw inputError(call.id, `The MCP server asked for input more than ${roundsMax} times`);
      const inputResponses = await ask(work, session.client as StatelessClient, result, reply);
      const { requestState } = result;
      const params = { ...message.params, inputResponses, ...(requestState === undefined ? {} : { requestState }) };
      const again = { ...message, params };
      next = { ...next, message: (await outgoing.checks?.checkArguments(again)) ?? again };
    }
  } catch (thrown) {
    if (thrown instanceof RpcError) call.errorCode = thrown.rpcCode;
    return reply.fail(thrown);
  }
}

/** Sends the questions to the client, and returns its results by their keys. */
async function ask(
  { ctx, call, parts }: Work,
  client: StatelessClient,
  result: JsonObject,
  reply: EventReply,
): Promise<JsonObject> {
  const requests = Object.entries(isObject(result.inputRequests) ? result.inputRequests : {});
  if (requests.length > questionsMax)
    throw inputError(call.id, `The MCP server asked more than ${questionsMax} questions at once`);
  const session = ctx.request.header('mcp-session-id') as string;
  const cancels: (() => void)[] = [];
  onDisconnect(ctx)(() => {
    for (const cancel of cancels) cancel();
  });
  const asked = requests.map(async ([key, given]) => {
    const { method, params } = isObject(given) ? given : {};
    const capability = needed[String(method)];
    if (capability === undefined || client.capabilities[capability] === undefined) {
      throw inputError(call.id, `The MCP server asked for ${String(method).slice(0, 100)}, which the client does not offer`);
    }
    const question = { session, method: String(method), params };
    const onCancel = (cancel: () => void): void => void (ctx.aborted ? cancel() : cancels.push(cancel));
    return [key, await parts.clientQuestions.ask(question, reply.send, onCancel)] as const;
  });
  try {
    return Object.fromEntries(await Promise.all(asked));
  } catch (thrown) {
    for (const cancel of cancels) cancel();
    throw thrown instanceof RpcError ? new RpcError(thrown.rpcCode, thrown.message, { id: call.id, status: 200 }) : thrown;
  }
}

function inputError(id: ClientMessage['id'], message: string): RpcError {
  return new RpcError(rpcCodes.internal, message, { id, status: 200 });
}

async function wholeOf(stream: ExchangeStream): Promise<JsonObject | null> {
  const body = await stream.whole(messageBytesMax);
  return body === null ? null : parsedMessage(textOf(body));
}

/** Returns the response in an event stream, and passes on the notices before it. Null: there is none. */
async function lastOf(stream: ExchangeStream, id: unknown, onNotice: (notice: JsonObject) => void): Promise<JsonObject | null> {
  for await (const frames of framesIn(stream.body)) {
    for (const frame of frames) {
      const message = parsedMessage(dataOf(frame) ?? '');
      if (message === null) continue;
      if (message.method !== undefined) {
        if (message.id === undefined) onNotice(message);
      } else if (message.id === id) {
        stream.abort();
        return message;
      }
    }
  }
  return null;
}
