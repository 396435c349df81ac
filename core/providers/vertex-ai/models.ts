import { resourcePath } from '../../formats/gemini/resource-name.ts';

/** The format of a model on Vertex AI, and its path below project and region. */
export type VertexModel =
  /** generateContent: Gemini, and endpoints of tuned Geminis. */
  | { readonly family: 'gemini'; readonly path: string; readonly name: string }
  /** Anthropic's Messages API by rawPredict. */
  | { readonly family: 'claude'; readonly path: string; readonly name: string }
  /** OpenAI's chat completions: at one path for all, or by rawPredict of the model. */
  | { readonly family: 'chat'; readonly path: string; readonly name: string; readonly raw: boolean };

/** Publishers that may be named before a dot. Other names contain dots of their own. */
const dotted = /^(google|anthropic|meta|mistralai|mistral|endpoints)\.(.+)$/;

/**
 * Parses the name of a model: `gemini-3.8-flash`, `claude-sonnet-4-5@20250929`, `meta/llama-…-maas`, `publisher.model`,
 * `publishers/p/models/m`, `endpoints.<id>` for a server with OpenAI's API, and a bare number for the endpoint of a tuned Gemini.
 * Throws `bad_request` for an invalid name.
 */
export function vertexModel(given: string): VertexModel {
  const model = given.replace(/^projects\/[^/]+\/locations\/[^/]+\//, '');
  const endpoint = /^endpoints[./](.+)$/.exec(model)?.[1];
  if (endpoint !== undefined) {
    const tuned = model.startsWith('endpoints/');
    const path = `/endpoints/${resourcePath(endpoint)}`;
    return tuned
      ? { family: 'gemini', path, name: endpoint }
      : { family: 'chat', path: `${path}/chat/completions`, name: endpoint, raw: false };
  }
  if (/^\d+$/.test(model)) return { family: 'gemini', path: `/endpoints/${model}`, name: model };
  const { publisher, name } = published(model);
  const path = `/publishers/${resourcePath(publisher)}/models/${resourcePath(name)}`;
  if (publisher === 'google') return { family: 'gemini', path, name };
  if (publisher === 'anthropic') return { family: 'claude', path, name };
  if (publisher === 'mistralai') return { family: 'chat', path, name, raw: true };
  return { family: 'chat', path: '/endpoints/openapi/chat/completions', name: `${publisher}/${name}`, raw: false };
}

function published(model: string): { publisher: string; name: string } {
  const full = /^publishers\/([^/]+)\/models\/(.+)$/.exec(model) ?? dotted.exec(model) ?? /^([^/]+)\/(.+)$/.exec(model);
  if (full) return { publisher: full[1] === 'mistral' ? 'mistralai' : (full[1] as string), name: full[2] as string };
  if (model.includes('claude')) return { publisher: 'anthropic', name: model };
  if (/^(mistral|codestral|ministral)/.test(model)) return { publisher: 'mistralai', name: model };
  return { publisher: /^llama/.test(model) ? 'meta' : 'google', name: model };
}
