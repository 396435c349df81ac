import { GatewayError } from '../contract/values/errors/errors.ts';
import { type JsonObject, parseObject } from '../contract/values/json/json.ts';
import type { InnerReply } from '../pipeline/inner-request.ts';
import type { CheckValue } from './check-values.ts';
import { callTool, listTools, type SendMessage } from './tool-calls.ts';
import type { Conversation, NamedServer, RoundStream, ToolCall, ToolFormat, ToolResult } from './tool-format.ts';

/** Bounds of one request with tools that the gateway calls. */
export interface RoundLimits {
  /** Calls of the model. */
  readonly roundsMax: number;
  /** Tokens of all calls of the model together, as their replies state them; 0: no limit. */
  readonly tokensMax: number;
}

/** Calls of tools in one round. */
const callsMax = 32;

export interface RoundParts {
  readonly limits: RoundLimits;
  readonly send: SendMessage;
  readonly check: CheckValue;
  /** Calls the model. A successful stream goes to `onEvent`, and the body of its reply is empty. */
  callModel(body: JsonObject, onEvent: ((event: JsonObject) => void) | null): Promise<InnerReply>;
  /** Sends events to the client. */
  write(events: readonly JsonObject[]): void;
}

/** The end of all rounds. */
export type Ended =
  /** A reply that is sent whole. */
  | { readonly kind: 'reply'; readonly reply: InnerReply }
  /** All events have been sent. */
  | { readonly kind: 'streamed' };

/** Calls the model and the tools that it asks for, until it replies without such a call or a bound is reached. Throws GatewayError. */
export async function runRounds(
  parts: RoundParts,
  format: ToolFormat,
  body: JsonObject,
  servers: readonly NamedServer[],
): Promise<Ended> {
  const tools = await listTools(parts.send, servers);
  const conversation = format.begin(body, tools);
  const stream = body.stream === true ? conversation.stream() : null;
  const { roundsMax, tokensMax } = parts.limits;
  for (let round = 1; ; round++) {
    const isLast = round >= roundsMax || (tokensMax > 0 && conversation.tokens() >= tokensMax);
    const sent = conversation.next(isLast);
    const reply = await parts.callModel(sent, stream === null ? null : (event) => parts.write(stream.take(event)));
    // The reply to a streamed request that is no stream is an error.
    if (stream !== null && reply.body.length > 0) return { kind: 'reply', reply };
    const read = stream === null ? wholeReply(reply) : stream.endRound();
    if (read === null) {
      if (stream === null) return { kind: 'reply', reply };
      throw new GatewayError('upstream_invalid', { message: 'The stream of the model ended before its last event' });
    }
    const { calls, results } = await callTools(parts, conversation, read, isLast);
    conversation.add(read, results);
    if (calls.length > 0 && stream !== null) parts.write(stream.results(calls, results));
    if (calls.length > 0 && !isLast && !conversation.needsClient(read)) continue;
    return finish(parts, conversation, stream, reply, read);
  }
}

/** Returns the reply of the model; null if it is an error, or cannot be read. */
function wholeReply({ status, body }: InnerReply): JsonObject | null {
  return status >= 200 && status < 300 ? parseObject(Buffer.from(body).toString('utf8')) : null;
}

/** Calls the tools that a reply asks for, all at a time. */
async function callTools(
  { send, check }: RoundParts,
  conversation: Conversation,
  reply: JsonObject,
  isLast: boolean,
): Promise<{ calls: ToolCall[]; results: ToolResult[] }> {
  const calls = conversation.callsOf(reply);
  const refuse = (text: string): ToolResult => ({ text, isError: true });
  const results = await Promise.all(
    calls.map((call, index) => {
      if (isLast) return refuse('The tool was not called: the limit of the request is reached');
      if (index >= callsMax) return refuse(`The tool was not called: more than ${callsMax} calls at once`);
      return callTool(send, check, call);
    }),
  );
  return { calls, results };
}

function finish(
  parts: RoundParts,
  conversation: Conversation,
  stream: RoundStream | null,
  reply: InnerReply,
  read: JsonObject,
): Ended {
  const whole = conversation.finish(read);
  if (stream === null) return { kind: 'reply', reply: { ...reply, body: Buffer.from(JSON.stringify(whole)) } };
  parts.write(stream.finish(whole));
  return { kind: 'streamed' };
}
