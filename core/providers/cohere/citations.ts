import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { urlCitation, webAddressIn } from '../../formats/openai/url-citations.ts';
import { adaptInReply, dropFromReply } from '../../formats/reply-notes.ts';

/**
 * Returns the offset in the message's text at which a part of the content begins, by its index. Undefined: the first part with
 * text.
 */
export type TextStarts = (contentIndex: unknown) => number;

/**
 * Converts a citation to annotations of the chat message, one per source with a web address
 * (https://docs.cohere.com/reference/chat#response.body.message.citations). The citation itself is in `citations` of the message,
 * which strict callers do not get.
 */
export function annotationsOf(citation: JsonObject, startOf: TextStarts, call: OperationCall): JsonObject[] {
  // A citation in the plan for tool calls counts from the start of the plan, which comes first.
  const from = citation.type === 'PLAN' ? 0 : startOf(citation.content_index);
  const [start, end] = [citation.start, citation.end].map((position) => from + (typeof position === 'number' ? position : 0));
  const annotations = objectsIn(citation.sources).flatMap(({ document, tool_output: output }) => {
    const source = isObject(document) ? document : isObject(output) ? output : {};
    const url = webAddressIn(source.url, source.link, source.source);
    return url === null ? [] : [urlCitation(url, source.title, start ?? from, end ?? from)];
  });
  if (call.strict && annotations.length > 0) adaptInReply(call, 'citations');
  else if (call.strict) dropFromReply(call, 'citations');
  return annotations;
}
