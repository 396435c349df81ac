import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../../contract/values/json/json.ts';
import { citationOfRetrieved } from '../../document-citations.ts';
import { urlCitation, webAddressIn } from '../../openai/url-citations.ts';
import { adaptInReply, dropFromReply } from '../../reply-notes.ts';

/** Fields of a candidate that chunks and messages carry in another form, or that do not concern the content. */
const readFields: ReadonlySet<string> = new Set([
  ...['content', 'finishReason', 'index', 'logprobsResult', 'tokenCount', 'avgLogprobs'],
]);

/**
 * Returns grounding and citations of a candidate as annotations of the chat message whose text so far is `text`. Other fields of
 * a candidate (queries, safety ratings, …) are beside the choice for callers without strict compliance, and reported for strict
 * ones.
 */
export function annotationsOf(candidate: JsonObject, text: string, call: OperationCall): JsonObject[] {
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
function groundingOf({ groundingChunks, groundingSupports }: JsonObject, text: string): JsonObject[] {
  const sources = objectsIn(groundingChunks).map(sourceOf);
  const spanOf = spanReader(text);
  const used = new Set<unknown>();
  const annotations: JsonObject[] = [];
  for (const { segment, groundingChunkIndices } of objectsIn(groundingSupports)) {
    const [start, end] = spanOf(isObject(segment) ? segment : {});
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

function citationsOf(metadata: JsonObject, text: string): JsonObject[] {
  const listed = Array.isArray(metadata.citations) ? metadata.citations : metadata.citationSources;
  const spanOf = spanReader(text);
  return objectsIn(listed).flatMap((citation) => {
    const url = webAddressIn(citation.uri);
    return url === null ? [] : [urlCitation(url, citation.title, ...spanOf(citation))];
  });
}

/** Characters that one reply may cost in searches for cited texts. Without a limit, 600 KB of supports took five seconds. */
const searchedCharsMax = 16 * 1024 * 1024;

/** Returns a function that converts Gemini's offsets in UTF-8 bytes to offsets in the text. */
function spanReader(text: string): (segment: JsonObject) => [number, number] {
  const indexIn = indexReader(text);
  let searchedChars = 0;
  return (segment) => {
    const [start, end] = [indexIn(segment.startIndex), indexIn(segment.endIndex)];
    if (typeof segment.text !== 'string' || text.slice(start, end) === segment.text) return [start, end];
    // The offsets count within a part of the reply, so the cited text locates the citation.
    searchedChars += text.length;
    const found = searchedChars > searchedCharsMax ? -1 : text.indexOf(segment.text);
    return found < 0 ? [start, end] : [found, found + segment.text.length];
  };
}

/** Bytes between two entries of the table of `indexReader`. */
const entryBytes = 256;

/** Returns a function that converts an offset in the bytes of the text to an offset in its characters. */
function indexReader(text: string): (count: unknown) => number {
  const length = Buffer.byteLength(text);
  const clamped = (count: unknown): number => (typeof count === 'number' ? Math.max(0, Math.min(count, length)) : 0);
  if (length === text.length) return clamped;
  const bytes = Buffer.from(text);
  /** Characters before each `entryBytes` bytes. */
  const table = new Uint32Array(Math.floor(length / entryBytes) + 1);
  for (let at = 0, chars = 0; at < length; at++) {
    if (at % entryBytes === 0) table[at / entryBytes] = chars;
    chars += charsOf(bytes[at] as number);
  }
  return (count) => {
    const end = Math.floor(clamped(count));
    const entry = Math.min(Math.floor(end / entryBytes), Math.floor((length - 1) / entryBytes));
    let chars = table[entry] as number;
    for (let at = entry * entryBytes; at < end; at++) chars += charsOf(bytes[at] as number);
    return chars;
  };
}

/** Returns the UTF-16 code units of the character that begins with this byte; 0 for the other bytes of a character. */
function charsOf(byte: number): number {
  if ((byte & 0xc0) === 0x80) return 0;
  return byte >= 0xf0 ? 2 : 1;
}
