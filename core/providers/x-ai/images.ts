import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { nearestRatio } from '../../formats/media/aspect-ratio.ts';
import { dataUrl, sentImages } from '../../formats/media/image-content.ts';
import { imageGenerations, images } from '../../formats/media/images.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { passedImageParams } from '../../formats/openai/passed-params.ts';

const ratios = ['1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2', '9:19.5', '19.5:9', '9:20', '20:9', '1:2', '2:1'] as const;

const qualities: ReadonlySet<unknown> = new Set(['low', 'medium', 'high']);

/** OpenAI image parameters that xAI lacks, with the values that have no effect. */
const lost: Readonly<Record<string, readonly unknown[]>> = {
  style: ['vivid'],
  background: ['auto', 'opaque'],
  moderation: ['auto'],
  output_compression: [100, '100'],
  partial_images: [0, '0'],
  input_fidelity: [],
};

/** https://docs.x.ai/developers/model-capabilities/images/generation */
export const imageGenerate: Operation = imageGenerations('x-ai', () => '/images/generations', { request: shapedRequest });

/** Edits are JSON at this provider, with images as `{url}`: data URLs, or addresses that xAI fetches itself. */
export const imageEdit: Operation = {
  ...images('x-ai', () => '/images/edits'),
  toProvider: editRequest,
  toContent: (params, call) => ({ kind: 'json', body: editRequest(params, call) }),
};

function shapedRequest(params: JsonObject, call: OperationCall): JsonObject {
  if (call.stream) throw badParam('stream', 'images do not stream on x-ai');
  const { size, stream: _stream, quality, ...others } = params;
  const body = passedImageParams(others, call, lost);
  if (qualities.has(quality)) body.quality = quality;
  else if (quality !== undefined && quality !== 'auto' && quality !== 'standard') noteOnce(call.dropped, 'quality');
  return { ...body, ...shapeOf(size, params, call) };
}

/** xAI does not support `size`. Its own parameters take precedence. */
function shapeOf(size: unknown, params: JsonObject, call: OperationCall): JsonObject {
  if (size === undefined || size === null || size === '' || size === 'auto' || params.aspect_ratio !== undefined) return {};
  const ratio = nearestRatio(size, ratios);
  if (ratio === null) {
    noteOnce(call.dropped, 'size');
    return {};
  }
  noteOnce(call.adapted, `size->aspect_ratio:${ratio}`);
  const longer = Math.max(...String(size).split('x').map(Number));
  return { aspect_ratio: ratio, ...(longer > 1800 && params.resolution === undefined ? { resolution: '2k' } : {}) };
}

function editRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { image, images: list, mask: _mask, n, ...others } = shapedRequest(params, call);
  // An edit without a mask may change the whole image.
  if (sentImages(params, call, 'mask').length > 0)
    throw badParam('mask', 'x-ai does not support masks. Describe the change in the prompt');
  const sent = call.form ? sentImages(params, call).map((one) => urlPart(dataUrl(one))) : jsonImages(list ?? image);
  if (sent.length === 0) throw badParam('image', 'the image that is to be edited is expected');
  return {
    ...others,
    ...(n === undefined || n === null || n === '' ? {} : { n: Number(n) }),
    ...(sent.length === 1 ? { image: sent[0] } : { images: sent }),
  };
}

function jsonImages(given: unknown): JsonObject[] {
  if (given === undefined || given === null) return [];
  return (Array.isArray(given) ? given : [given]).map((item) => {
    if (isObject(item) && item.url !== undefined) return item;
    const text = isObject(item) ? (item.image_url ?? item.b64_json) : item;
    if (typeof text !== 'string' || text === '') throw badParam('image', 'base64, a data URL or an address is expected');
    return urlPart(/^[a-z]+:/i.test(text) ? text : `data:image/png;base64,${text}`);
  });
}

function urlPart(url: string): JsonObject {
  return { url, type: 'image_url' };
}
