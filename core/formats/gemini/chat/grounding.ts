import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../../contract/values/json/json.ts';
import { citationOfRetrieved } from '../../document-citations.ts';
import { urlCitation, webAddressIn } from '../../openai/url-citations.ts';
import { adaptInReply, dropFromReply } from '../../reply-notes.ts';
import type { ReplyText } from './reply-text.ts';

/** Fields of a candidate that chunks and messages carry in another form, or that do not concern the content. */
const readFields: ReadonlySet<string> = new Set([
  ...['content', 'finishReason', 'index', 'logprobsResult', 'tokenCount', 'avgLogprobs'],
]);

/**
 * Returns grounding and citations of a candidate as annotations of the chat message whose text so far is `text`. Other fields of
 * a candidate (queries, safety ratings, …) are beside the choice for callers without strict compliance, and reported for strict
 * ones.
 */
export function annotationsOf(candidate: JsonObject, text: ReplyText, call: OperationCall): JsonObject[] {
  const annotations: JsonObject[] = [];
  if (isObject(candidate.groundingMetadata)) annotations.push(...groundingOf(candidate.groundingMetadata, text));
  if (isObject(candidate.citationMetadata)) annotations.push(...citationsOf(candidate.citationMetadata, text));
  if (call.strict) reportFields(candidate, annotations.length > 0, call);
  return annotations;
}

/** Returns the sources of a candidate that have no web address (a file of a store) in Anthropic's form. */
export function documentsOf({ groundingMetadata: metadata }: JsonObject): JsonObject[] {
  if (!isObject(metadata)) return [];
  return objectsIn(metadata.groundingChunks).flatMap((chunk) => {
    const source = sourceIn(chunk);
    return source !== undefined && webAddressIn(source.uri, source.sourceUri) === null ? [citationOfRetrieved(source)] : [];
  });
}

function reportFields(candidate: JsonObject, annotated: boolean, call: OperationCall): void {
  for (const [name, value] of Object.entries(candidate)) {
    if (readFields.has(name) || value === null || value === undefined) continue;
    if (typeof value === 'object' && Object.keys(value).length === 0) continue;
    if (annotated && (name === 'groundingMetadata' || name === 'citationMetadata')) adaptInReply(call, name);
    else dropFromReply(call, name);
  }
}

/**
 * Returns one annotation per source of each supported span. A source that supports no span gets an annotation for the whole text.
 */
function groundingOf({ groundingChunks, groundingSupports }: JsonObject, text: ReplyText): JsonObject[] {
  const sources = objectsIn(groundingChunks).map(sourceOf);
  const used = new Set<unknown>();
  const annotations: JsonObject[] = [];
  for (const { segment, groundingChunkIndices } of objectsIn(groundingSupports)) {
    const [start, end] = text.spanOf(isObject(segment) ? segment : {});
    for (const index of Array.isArray(groundingChunkIndices) ? groundingChunkIndices : []) {
      const source = sources[Number(index)];
      used.add(source);
      if (source?.url) annotations.push(urlCitation(source.url, source.title, start, end));
    }
  }
  for (const source of sources) {
    if (source.url && !used.has(source)) annotations.push(urlCitation(source.url, source.title, 0, text.length));
  }
  return annotations;
}

/** Returns the address and title of a web page, a document of a store, or a point on a map. */
function sourceOf(chunk: JsonObject): { url: string | null; title: unknown } {
  const source = sourceIn(chunk);
  return { url: webAddressIn(source?.uri, source?.sourceUri), title: source?.title };
}

function sourceIn({ web, retrievedContext, maps, image }: JsonObject): JsonObject | undefined {
  return [web, retrievedContext, maps, image].find(isObject);
}

function citationsOf(metadata: JsonObject, text: ReplyText): JsonObject[] {
  const listed = Array.isArray(metadata.citations) ? metadata.citations : metadata.citationSources;
  return objectsIn(listed).flatMap((citation) => {
    const url = webAddressIn(citation.uri);
    return url === null ? [] : [urlCitation(url, citation.title, ...text.spanOf(citation))];
  });
}
