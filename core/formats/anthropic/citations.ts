import type { OperationCall } from '../../contract/provider/provider.ts';
import { type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { urlCitation, webAddressIn } from '../openai/url-citations.ts';
import { adaptInReply, dropFromReply } from '../reply-notes.ts';

/**
 * Converts citations of a text block to annotations of the chat message for its text from `start` to `end`. Chat completions have
 * annotations for web pages only. Citations of documents, and the cited words, are in `content_blocks`, which strict callers do
 * not get.
 */
export function annotationsOf(citations: unknown, start: number, end: number, call: OperationCall): JsonObject[] {
  return objectsIn(citations).flatMap((citation) => {
    const url = webAddressIn(citation.url, citation.source);
    if (url === null) {
      if (call.strict) dropFromReply(call, 'citations');
      return [];
    }
    if (call.strict) adaptInReply(call, 'citations');
    return [urlCitation(url, citation.title, start, end)];
  });
}
