import { isObject, isText, type JsonObject, objectsIn } from '../contract/values/json/json.ts';
import { webAddressIn } from './openai/url-citations.ts';

/**
 * Citations of documents. All providers share Anthropic's form of them (`char_location`, `page_location`, `search_result_location`, …);
 * Responses replies have `file_citation` annotations instead. Chat completions have no such annotation, and clients that check types
 * refuse a reply with one.
 */
interface CitedDocument {
  readonly id: unknown;
  readonly title: unknown;
  /** The cited words of the document; '' if unknown. */
  readonly text: string;
}

/** Returns a citation of a document of which no range is known. `isMadeCitation` recognises it by the empty range of blocks. */
function searchResultCitation({ id, title, text }: CitedDocument): JsonObject {
  return {
    type: 'search_result_location',
    cited_text: text,
    source: typeof id === 'string' ? id : '',
    title: typeof title === 'string' ? title : null,
    search_result_index: 0,
    start_block_index: 0,
    end_block_index: 0,
  };
}

/** True for a citation from `searchResultCitation`. Claude refuses it: its own ranges of blocks are never empty. */
export function isRangeless({ type, start_block_index: start, end_block_index: end }: JsonObject): boolean {
  return type === 'search_result_location' && start === end;
}

/** Returns a `file_citation` of the Responses API in Anthropic's form; null for an annotation that names no file. */
export function citationOfFile({ file_id: id, filename }: JsonObject): JsonObject | null {
  return typeof id === 'string' ? searchResultCitation({ id, title: filename, text: '' }) : null;
}

/** Returns the sources without a web address of a citation of Cohere, in Anthropic's form. */
export function citationsOfSources({ sources }: JsonObject): JsonObject[] {
  return objectsIn(sources).flatMap(({ id, document, tool_output: output }) => {
    const source = isObject(document) ? document : isObject(output) ? output : {};
    if (webAddressIn(source.url, source.link, source.source) !== null) return [];
    const text = [source.snippet, source.text].find((value) => typeof value === 'string');
    return [searchResultCitation({ id, title: source.title, text: typeof text === 'string' ? text : '' })];
  });
}

/** Returns a citation of Gemini's file search or of another source without a web address, in Anthropic's form. */
export function citationOfRetrieved({ uri, documentName, title, text }: JsonObject): JsonObject {
  const id = [documentName, uri, title].find((value) => typeof value === 'string');
  return searchResultCitation({ id, title, text: typeof text === 'string' ? text : '' });
}

/** Returns a citation in Anthropic's form as an annotation of the Responses API. The cited words are not part of it. */
export function fileCitationOf(citation: JsonObject): JsonObject {
  const { file_id: file, source, document_title, title, document_index, search_result_index } = citation;
  const index = Number(document_index ?? search_result_index ?? 0);
  const id = [file, source].find(isText) ?? `document_${index}`;
  return { type: 'file_citation', file_id: id, filename: String(document_title ?? title ?? ''), index };
}
