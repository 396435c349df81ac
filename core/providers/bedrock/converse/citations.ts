import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../../contract/values/json/json.ts';
import { dropFromReply } from '../../../formats/reply-notes.ts';

/**
 * Converts citations of Converse to Anthropic's form, which all providers share in `content_blocks`
 * (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Citation.html). A citation with an unknown location is
 * reported.
 */
export function sharedCitations(citations: unknown, call: OperationCall): JsonObject[] {
  return objectsIn(citations).flatMap((citation) => {
    const location = isObject(citation.location) ? citation.location : {};
    const [kind, span] = Object.entries(location).find((entry): entry is [string, JsonObject] => isObject(entry[1])) ?? [];
    const made = kind === undefined || span === undefined ? null : locations[kind]?.(span, citation);
    if (made) return [{ ...made, cited_text: citedText(citation) }];
    dropFromReply(call, 'citations');
    return [];
  });
}

const inDocument = (span: JsonObject, citation: JsonObject): JsonObject => ({
  document_index: span.documentIndex ?? 0,
  document_title: citation.title ?? null,
});

const locations: Readonly<Record<string, (span: JsonObject, citation: JsonObject) => JsonObject>> = {
  web: ({ url }, { title }) => ({ type: 'web_search_result_location', url, title: title ?? null, encrypted_index: '' }),
  documentChar: (span, citation) => ({
    type: 'char_location',
    ...inDocument(span, citation),
    start_char_index: span.start,
    end_char_index: span.end,
  }),
  documentPage: (span, citation) => ({
    type: 'page_location',
    ...inDocument(span, citation),
    start_page_number: span.start,
    end_page_number: span.end,
  }),
  documentChunk: (span, citation) => ({
    type: 'content_block_location',
    ...inDocument(span, citation),
    start_block_index: span.start,
    end_block_index: span.end,
  }),
  searchResultLocation: (span, { source, title }) => ({
    type: 'search_result_location',
    source: source ?? '',
    title: title ?? null,
    search_result_index: span.searchResultIndex ?? 0,
    start_block_index: span.start,
    end_block_index: span.end,
  }),
};

function citedText({ sourceContent }: JsonObject): string {
  return objectsIn(sourceContent)
    .map((part) => String(part.text ?? ''))
    .join('');
}
