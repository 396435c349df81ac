import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json.ts';
import { objectsIn } from '../../formats/objects-in.ts';
import { dropFromReply } from '../../formats/reply-notes.ts';

/**
 * Citations of Converse in Anthropic's form, which all providers share in `content_blocks`
 * (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Citation.html). One of an unknown place is reported.
 */
export function sharedCitations(citations: unknown, call: OperationCall): JsonObject[] {
  return objectsIn(citations).flatMap((citation) => {
    const location = isObject(citation.location) ? citation.location : {};
    const [kind, place] = Object.entries(location).find((entry): entry is [string, JsonObject] => isObject(entry[1])) ?? [];
    const made = kind === undefined || place === undefined ? null : locations[kind]?.(place, citation);
    if (made) return [{ ...made, cited_text: citedText(citation) }];
    dropFromReply(call, 'citations');
    return [];
  });
}

const inDocument = (place: JsonObject, citation: JsonObject): JsonObject => ({
  document_index: place.documentIndex ?? 0,
  document_title: citation.title ?? null,
});

const locations: Readonly<Record<string, (place: JsonObject, citation: JsonObject) => JsonObject>> = {
  web: ({ url }, { title }) => ({ type: 'web_search_result_location', url, title: title ?? null, encrypted_index: '' }),
  documentChar: (place, citation) => ({
    type: 'char_location',
    ...inDocument(place, citation),
    start_char_index: place.start,
    end_char_index: place.end,
  }),
  documentPage: (place, citation) => ({
    type: 'page_location',
    ...inDocument(place, citation),
    start_page_number: place.start,
    end_page_number: place.end,
  }),
  documentChunk: (place, citation) => ({
    type: 'content_block_location',
    ...inDocument(place, citation),
    start_block_index: place.start,
    end_block_index: place.end,
  }),
  searchResultLocation: (place, { source, title }) => ({
    type: 'search_result_location',
    source: source ?? '',
    title: title ?? null,
    search_result_index: place.searchResultIndex ?? 0,
    start_block_index: place.start,
    end_block_index: place.end,
  }),
};

function citedText({ sourceContent }: JsonObject): string {
  return objectsIn(sourceContent)
    .map((part) => String(part.text ?? ''))
    .join('');
}
