import { isObject, type JsonObject } from '../../contract/json.ts';
import type { Operation, OperationCall, StreamReader } from '../../contract/provider.ts';

/**
 * One operation of a provider that answers Claude models in Anthropic's format and all others in OpenAI's. Requests go by what
 * `isClaude` says of the call, replies by what they look like: that is all a reader of token counts gets to see.
 */
export function claudeOrChat(isClaude: (call: OperationCall) => boolean, claude: Operation, other: Operation): Operation {
  const of = (call: OperationCall): Operation => (isClaude(call) ? claude : other);
  return {
    path: (call) => of(call).path(call),
    toProvider: (params, call) => of(call).toProvider?.(params, call) ?? params,
    fromProvider: (reply, call) => of(call).fromProvider?.(reply, call) ?? reply,
    translateStream: (call) => of(call).translateStream?.(call) ?? null,
    usage: (reply) => (isMessage(reply) ? claude : other).usage(reply),
    streamReader: () => eitherReader(claude.streamReader(), other.streamReader()),
  };
}

function isMessage(reply: JsonObject): boolean {
  return reply.type === 'message' || (isObject(reply.usage) && 'input_tokens' in reply.usage);
}

/** Both readers look on; the first event with choices, or of a message, says whose stream it is. */
function eitherReader(claude: StreamReader, other: StreamReader): StreamReader {
  let chosen: StreamReader | null = null;
  const reader = (): StreamReader => chosen ?? other;
  return {
    push(event) {
      if (chosen === null && isObject(event.data)) {
        if (event.data.type === 'message_start' || event.data.type === 'error') chosen = claude;
        else if (Array.isArray(event.data.choices)) chosen = other;
      }
      claude.push(event);
      other.push(event);
    },
    usage: () => reader().usage(),
    complete: () => reader().complete(),
    error: () => reader().error?.() ?? null,
  };
}
