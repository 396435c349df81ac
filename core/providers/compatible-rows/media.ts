import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { type ImageQuirks, withWidthAndHeight } from '../../formats/media/images.ts';
import { type RerankQuirks, withTextDocuments } from '../../formats/openai/rerank.ts';

/** Hyperbolic: an API of its own for images, which returns base64. */
export const hyperbolicImages: ImageQuirks = {
  path: '/image/generation',
  renames: { model: 'model_name' },
  refuses: ['response_format', 'n', 'quality', 'style', 'user'],
  request: withWidthAndHeight,
  reply: (reply, call) => listed(reply, call, (image) => ({ b64_json: image.image })),
};

/** fal: the path contains the model, the size is an object, and images are returned as addresses. */
export const falImages: ImageQuirks = {
  pathOf: (call) => `/${call.model.split('/').map(encodeURIComponent).join('/')}`,
  renames: { n: 'num_images' },
  refuses: ['background', 'moderation', 'quality', 'response_format', 'style', 'user'],
  request: ({ model: _model, ...params }, call) => {
    const { width, height, ...rest } = withWidthAndHeight(params, call);
    return width === undefined ? rest : { ...rest, image_size: { width, height } };
  },
  reply: (reply, call) => listed(reply, call, ({ url, ...image }) => ({ url, ...image })),
};

/** SiliconFlow: OpenAI's path with other names. Images are returned as addresses. */
export const siliconflowImages: ImageQuirks = {
  renames: { size: 'image_size', n: 'batch_size' },
  refuses: ['response_format', 'quality', 'style', 'user'],
  reply: (reply, call) => (Array.isArray(reply.data) ? reply : listed(reply, call, (image) => image)),
};

/** Workers AI: the path contains the model. Some models reply with `{result: {image}}`, others with the image itself. */
export const workersAiImages: ImageQuirks = {
  pathOf: (call) => `/run/${call.model.split('/').map(encodeURIComponent).join('/').replace(/^%40/, '@')}`,
  refuses: ['response_format', 'n', 'quality', 'style', 'user'],
  request: ({ model: _model, ...params }, call) => withWidthAndHeight(params, call),
  reply: (reply, call) => {
    const { result, success: _success, errors: _errors, messages: _messages, ...rest } = reply;
    if (!isObject(result)) return reply;
    return { created: call.nowSeconds, data: [{ b64_json: result.image }], ...rest };
  },
  repliesWithImage: true,
};

/** Jina: Cohere's form with token counts. Documents are texts or `{text}`. */
export const jinaRerank: RerankQuirks = { refuses: ['max_tokens_per_doc', 'priority'] };

/** Voyage: other names for the number of results and for their list. */
export const voyageRerank: RerankQuirks = {
  renames: { top_n: 'top_k' },
  refuses: ['max_tokens_per_doc', 'priority', 'rank_fields'],
  request: withTextDocuments,
  reply: (reply) => {
    const { object: _object, data, ...rest } = reply;
    return Array.isArray(data) ? { ...rest, results: data.map(voyageResult) } : reply;
  },
};

function voyageResult(item: unknown): unknown {
  if (!isObject(item) || typeof item.document !== 'string') return item;
  return { ...item, document: { text: item.document } };
}

function listed(reply: JsonObject, call: OperationCall, toItem: (image: JsonObject) => JsonObject): JsonObject {
  const { images, ...rest } = reply;
  if (!Array.isArray(images)) return reply;
  return { created: call.nowSeconds, data: images.filter(isObject).map(toItem), ...rest };
}
