import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { percentDecoded } from '../../contract/values/text/percent-decoded.ts';
import { nearestRatio } from '../../formats/media/aspect-ratio.ts';
import { type ImageQuirks, withWidthAndHeight } from '../../formats/media/images.ts';
import { type RerankQuirks, withTextDocuments } from '../../formats/openai/rerank.ts';

/** Aspect ratios of FLUX models (https://docs.fireworks.ai, text to image). */
const fluxRatios = ['1:1', '21:9', '16:9', '3:2', '5:4', '4:5', '2:3', '9:16', '9:21', '4:3', '3:4'];

/**
 * Images. The model is part of the path. FLUX models take an aspect ratio, the others width and height. The reply is the image
 * itself, or base64 if JSON was requested.
 */
export const fireworksImages: ImageQuirks = {
  pathOf: ({ model }) => (isFlux(model) ? `/workflows/${segments(model)}/text_to_image` : `/image_generation/${segments(model)}`),
  refuses: ['background', 'moderation', 'output_format', 'quality', 'response_format', 'style', 'user'],
  request: ({ model, n, ...params }, call) => {
    const several = n !== undefined && n !== null && n !== 1;
    if (isFlux(model)) {
      if (several) call.dropped.push('n');
      return withRatio(params, call);
    }
    return withWidthAndHeight(several ? { ...params, samples: n } : params, call);
  },
  reply: (reply, call) => {
    const { base64, ...rest } = reply;
    if (!Array.isArray(base64)) return reply;
    return { created: call.nowSeconds, data: base64.map((image) => ({ b64_json: image })), ...rest };
  },
  repliesWithImage: true,
};

/** Returns the model of a pass-through request for an image, without the function that may follow it. */
export function modelOfImagePath(path: string): string | null {
  const segments = path.split('/').filter((segment) => segment !== '');
  const at = segments.findIndex((segment) => segment === 'workflows' || segment === 'image_generation');
  const model = at === -1 ? [] : segments.slice(at + 1);
  if (imageFunctions.has(model.at(-1) ?? '')) model.pop();
  return model.length === 0 ? null : percentDecoded(model.join('/'));
}

const imageFunctions: ReadonlySet<string> = new Set(['text_to_image', 'image_to_image', 'control_net']);

function isFlux(model: unknown): boolean {
  return /flux/i.test(String(model));
}

function segments(model: string): string {
  return model.split('/').map(encodeURIComponent).join('/');
}

function withRatio({ size, ...params }: JsonObject, call: OperationCall): JsonObject {
  if (size === undefined || size === null || size === 'auto') return params;
  const ratio = nearestRatio(size, fluxRatios);
  if (ratio === null) call.dropped.push('size');
  else call.adapted.push('size->aspect_ratio');
  return ratio === null ? params : { ...params, aspect_ratio: ratio };
}

/**
 * Rerank: documents are texts only, and the list has OpenAI's name (https://docs.fireworks.ai/api-reference/rerank-documents).
 */
export const fireworksRerank: RerankQuirks = {
  refuses: ['max_tokens_per_doc', 'priority', 'rank_fields'],
  request: withTextDocuments,
  reply: ({ object, data, ...rest }) =>
    Array.isArray(data) ? { ...rest, results: data.map(withDocument) } : { ...rest, object, data },
};

function withDocument(item: unknown): unknown {
  return isObject(item) && typeof item.document === 'string' ? { ...item, document: { text: item.document } } : item;
}
