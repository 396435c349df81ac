import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { byName } from '../../contract/values/json/by-name.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { badParam } from '../../formats/bad-param.ts';
import { dataUrl, sentImages } from '../../formats/media/image-content.ts';
import { withUnit } from '../../formats/media/media-usage.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { chatUsage, tokenCount } from '../../formats/openai/chat-usage.ts';
import { typedEventsReader } from '../../formats/typed-events-reader.ts';

/** OpenAI image parameters that OpenRouter lacks, with the values that have no effect. */
const lost: Readonly<Record<string, readonly unknown[]>> = byName({
  response_format: ['b64_json'],
  style: ['vivid'],
  moderation: ['auto'],
  partial_images: [],
  input_fidelity: [],
});

/** `POST /v1/images` (@openrouter/sdk 1.3, `ImageGenerationRequest`): edits are generations with references. */
export const imageGenerate: Operation = imagesAs(imageRequest);

export const imageEdit: Operation = {
  ...imagesAs(editRequest),
  toContent: (params, call) => ({ kind: 'json', body: editRequest(params, call) }),
};

function imagesAs(toProvider: NonNullable<Operation['toProvider']>): Operation {
  return {
    path: () => '/v1/images',
    toProvider,
    usage: ({ usage, data }) => imageUsage(isObject(usage) ? usage : null, Array.isArray(data) ? data.length : 0),
    streamReader: () => typedEventsReader('openrouter', ['image_generation.completed'], imageUsage),
  };
}

function imageRequest(params: JsonObject, call: OperationCall): JsonObject {
  const body: JsonObject = {};
  for (const [name, value] of Object.entries(params)) {
    const nothing = lost[name];
    if (name === 'quality' && value === 'standard') continue;
    if (name === 'quality' && value === 'hd') {
      noteOnce(call.adapted, 'quality:hd->high');
      body.quality = 'high';
    } else if (name === 'size' && value === 'auto') continue;
    else if (!nothing) body[name] = value;
    else if (value !== undefined && value !== null && !nothing.includes(value)) noteOnce(call.dropped, name);
  }
  return body;
}

function editRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { image, images, mask: _mask, n, output_compression: compression, stream, ...others } = imageRequest(params, call);
  // An edit without a mask may change the whole image.
  if (sentImages(params, call, 'mask').length > 0) throw badParam('mask', 'openrouter does not support masks');
  const urls = call.form ? sentImages(params, call).map(dataUrl) : jsonImages(images ?? image);
  if (urls.length === 0) throw badParam('image', 'the image that is to be edited is expected');
  return {
    ...others,
    // Fields of a form are texts.
    ...(n === undefined || n === null || n === '' ? {} : { n: Number(n) }),
    ...(compression === undefined ? {} : { output_compression: Number(compression) }),
    ...(call.stream ? { stream: true } : {}),
    input_references: urls.map((url) => ({ type: 'image_url', image_url: { url } })),
  };
}

function jsonImages(given: unknown): string[] {
  if (given === undefined || given === null) return [];
  return (Array.isArray(given) ? given : [given]).map((item) => {
    const text = isObject(item) ? (item.image_url ?? item.b64_json) : item;
    if (typeof text !== 'string' || text === '') throw badParam('image', 'base64, a data URL or an address is expected');
    return /^[a-z]+:/i.test(text) ? text : `data:image/png;base64,${text}`;
  });
}

/** Returns tokens under the names of chat completions, and the number of images. */
function imageUsage(raw: JsonObject | null, count: number): Usage | null {
  const output = isObject(raw?.completion_tokens_details) ? raw.completion_tokens_details : {};
  const counted = raw ? { ...chatUsage(raw), imageOutputTokens: tokenCount(output.image_tokens) } : null;
  return withUnit(counted, 'generated_images', count);
}
