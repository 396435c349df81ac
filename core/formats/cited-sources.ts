import { isObject, type JsonObject, objectsIn } from '../contract/values/json/json.ts';
import { urlCitation, webAddressIn } from './openai/url-citations.ts';

/**
 * The quirk `reply` of providers that list their sources beside the choices (`citations`, `search_results`). It adds them to the
 * message as annotations and leaves the lists unchanged. Markers such as `[2]` in the text locate the citation of a source.
 * Without markers, each source covers the whole text. A stream carries the annotations in the chunk with the finish reason.
 */
export function annotateSources(): (reply: JsonObject) => JsonObject {
  let text = '';
  let sources: readonly JsonObject[] = [];
  let done = false;
  return (reply) => {
    const [choice] = objectsIn(reply.choices);
    const listed = sourcesOf(reply);
    if (listed.length > 0) sources = listed;
    if (choice === undefined || done) return reply;
    const field = isObject(choice.delta) ? 'delta' : 'message';
    const message = isObject(choice[field]) ? choice[field] : {};
    if (typeof message.content === 'string') text += message.content;
    if (typeof choice.finish_reason !== 'string' || sources.length === 0) return reply;
    done = true;
    if (objectsIn(message.annotations).length > 0) return reply;
    const annotated = { ...choice, [field]: { ...message, annotations: annotationsOf(text, sources) } };
    return { ...reply, choices: [annotated, ...objectsIn(reply.choices).slice(1)] };
  };
}

/** Sources in their order, each with `url` and `title`; those of `search_results` have titles. */
function sourcesOf({ citations, search_results: results }: JsonObject): JsonObject[] {
  const found = objectsIn(results);
  if (!Array.isArray(citations)) return found;
  const titles = new Map(found.map(({ url, title }) => [url, title] as const).reverse());
  return citations.map((citation) => {
    const url = isObject(citation) ? citation.url : citation;
    return { url, title: titles.get(url) };
  });
}

function annotationsOf(text: string, sources: readonly JsonObject[]): JsonObject[] {
  const cite = (source: JsonObject | undefined, start: number, end: number): JsonObject[] => {
    const url = webAddressIn(source?.url);
    return url === null ? [] : [urlCitation(url, source?.title, start, end)];
  };
  const marked = [...text.matchAll(/\[(\d{1,3})\]/g)].flatMap((marker) =>
    cite(sources[Number(marker[1]) - 1], marker.index, marker.index + marker[0].length),
  );
  return marked.length > 0 ? marked : sources.flatMap((source) => cite(source, 0, text.length));
}
