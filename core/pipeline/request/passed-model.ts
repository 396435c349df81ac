import type { InboundRequest } from '../../contract/values/http/http.ts';
import { isJsonType, isMultipartForm } from '../../contract/values/http/media-types.ts';
import { percentDecoded } from '../../contract/values/text/percent-decoded.ts';

/** Segments of paths that name a model. Each has this meaning at every provider, so that it is known before the target is. */
const modelSegment = new RegExp(
  `/(?:${[
    // Gemini and Vertex AI: `/models/<model>:generateContent`
    '(?:models|tunedModels|endpoints)/+([^/:?]+?)(?::|%3a)',
    // Bedrock: `/model/<model>/invoke`
    'model/+([^/?]+)/',
    // Azure: `/deployments/<model>/chat/completions`
    'deployments/+([^/?]+)/',
    // Cloudflare: `/run/@cf/<model>`
    'run/+((?:@|%40)(?:cf|hf)(?:/|%2f)[^?]+)',
    // Vertex AI: `/endpoints/<model>/chat/completions`
    'endpoints/+(?!openapi/)([^/?]+)/',
    // Databricks and SageMaker: `/<model>/invocations`
    '([^/?]+)/+(?:async-)?invocations(?:[-/?]|$)',
  ].join('|')})`,
  'i',
);

/** Returns the model in a segment of a path that only models can have; null without one. */
export function modelInPath(path: string): string | null {
  const name = modelSegment
    .exec(path)
    ?.slice(1)
    .find((group) => group !== undefined);
  return name === undefined ? null : percentDecoded(name);
}

/** The model in the address of a pass-through request. */
export interface AddressedModel {
  /** Null: the address names none, or the body may name another one. */
  readonly model: string | null;
  /** True: the provider calls this model, whatever the body names. */
  readonly isFinal: boolean;
}

/**
 * Reads the model of a pass-through request from `path`, below `/v1`, else from `query`. Providers ignore a model in the query of most paths, so a caller
 * could otherwise choose the price. The query therefore counts only if no body can name another model.
 */
export function addressedModel(path: string, query: string, request: InboundRequest): AddressedModel {
  const inPath = modelInPath(path);
  if (inPath !== null) return { model: inPath, isFinal: true };
  const inQuery = query.includes('model=') ? new URLSearchParams(query).get('model') : null;
  const isFinal = inQuery !== null && readsModelOfQuery(path);
  const isRead = isFinal || request.body.length === 0 || hasReadableModel(request);
  return { model: isRead ? inQuery : null, isFinal };
}

/** True for the paths of Deepgram, which reads its model from the query and ignores one in the body. */
function readsModelOfQuery(path: string): boolean {
  return /\/(?:listen|speak|read)\/?$/.test(path);
}

/** True for a body whose model is read: JSON and forms. */
function hasReadableModel(request: InboundRequest): boolean {
  const type = request.header('content-type') ?? 'application/json';
  return !isEncoded(request) && (isJsonType(type) || isMultipartForm(type));
}

/** True for a compressed body. */
export function isEncoded(request: InboundRequest): boolean {
  const encoding = request.header('content-encoding');
  return encoding !== undefined && encoding !== 'identity';
}

/**
 * Returns the texts of the parts of a form with the name `model`. Texts of other parts cannot imitate a part, because only the boundary in the
 * content type separates parts.
 */
export function modelsInForm(text: string, contentType: string): string[] {
  const boundary = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType);
  if (boundary === null) return [];
  // The last piece may be cut.
  const parts = `\r\n${text}`.split(`\r\n--${boundary[1] ?? boundary[2]}`).slice(1, -1);
  return parts.flatMap((part) => {
    const end = part.indexOf('\r\n\r\n');
    return end !== -1 && modelPart.test(part.slice(0, end)) ? [part.slice(end + 4)] : [];
  });
}

const modelPart = /^content-disposition:[^\r\n]*;[ \t]*name=(?:"model"|model)[ \t]*(?:;|$)/im;
