import type { OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json.ts';
import { objectsIn } from '../objects-in.ts';
import { urlCitation, webAddressIn } from '../openai/url-citations.ts';
import { adaptInReply, dropFromReply } from '../reply-notes.ts';

/**
 * Citations of a text block as annotations of the chat message, for the places `start` to `end` of its text. Chat completions cite web
 * pages only: citations of documents, and the cited words, are in `content_blocks`, which strict callers do not get.
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
