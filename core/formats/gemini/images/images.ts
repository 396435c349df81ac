import type { Operation, OperationCall } from '../../../contract/provider/provider.ts';
import type { StreamReader, StreamTranslator } from '../../../contract/provider/stream-event.ts';
import { byName } from '../../../contract/values/json/by-name.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { badParam } from '../../bad-param.ts';
import { sentImages } from '../../media/image-content.ts';
import { withUnit } from '../../media/media-usage.ts';
import { noteOnce } from '../../note-once.ts';
import { traitsOf } from '../models.ts';
import { inlineDataOf, mediaStreamReader, noContent } from '../reply-content.ts';
import { drawnUsage, imageList, imageTokens } from './image-reply.ts';
import { imageSizeOf } from './image-size.ts';

/** OpenAI image parameters that Gemini lacks, with the values that have no effect. */
const lost: Readonly<Record<string, readonly unknown[]>> = byName({
  n: [1, '1'],
  quality: ['auto', 'standard'],
  style: ['vivid'],
  background: ['auto', 'opaque'],
  moderation: ['auto'],
  output_format: ['png'],
  output_compression: [100, '100'],
  partial_images: [0, '0'],
  input_fidelity: [],
  user: [],
});

export interface GeminiImageOptions {
  /** True if `imageOutputOptions` is supported: by Vertex AI, not by the Gemini API. */
  readonly outputOptions: boolean;
}

/**
 * Generates images by generateContent of Gemini's image models (https://ai.google.dev/gemini-api/docs/image-generation). Edits
 * start from the images sent with the prompt. `path` returns the path of the model, without the method.
 */
export function geminiImages(
  provider: string,
  kind: 'generation' | 'edit',
  path: (call: OperationCall) => string,
  options: GeminiImageOptions,
): Operation {
  const shaped = (params: JsonObject, call: OperationCall): JsonObject => imageRequest(params, call, kind, options);
  return {
    path: (call) => `${path(call)}:${call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    toProvider: shaped,
    toContent: (params, call) => ({ kind: 'json', body: shaped(params, call) }),
    fromProvider: (reply, call) => imageReply(reply, call, provider),
    translateStream: () => imageStream(kind),
    usage: drawnUsage,
    streamReader: () => imageReader(provider),
  };
}

function imageRequest(
  params: JsonObject,
  call: OperationCall,
  kind: 'generation' | 'edit',
  options: GeminiImageOptions,
): JsonObject {
  const { model: _model, prompt, size, response_format, stream: _stream, ...rest } = params;
  const { image: _image, images: _images, mask: _mask, generationConfig, aspect_ratio, image_size, ...others } = rest;
  if (typeof prompt !== 'string' || prompt === '') throw badParam('prompt', 'a description of the image is expected');
  // Without a mask, the whole image may change.
  if (kind === 'edit' && sentImages(params, call, 'mask').length > 0) {
    throw badParam('mask', 'Gemini does not support masks. Describe the change in the prompt');
  }
  const passed: JsonObject = {};
  for (const [name, value] of Object.entries(others)) {
    const nothing = lost[name];
    if (!nothing) passed[name] = value;
    else if (options.outputOptions && isOutput(name)) continue;
    else if (value !== undefined && value !== null && !nothing.includes(value)) noteOnce(call.dropped, name);
  }
  if (response_format === 'url') noteOnce(call.adapted, 'response_format:url->data URL');
  const shape = imageSizeOf(size, call);
  const config = {
    ...(shape.aspectRatio === undefined ? {} : { aspectRatio: shape.aspectRatio }),
    ...(shape.imageSize !== undefined && traitsOf(call.model).imageSizes ? { imageSize: shape.imageSize } : {}),
    ...(aspect_ratio === undefined ? {} : { aspectRatio: aspect_ratio }),
    ...(image_size === undefined ? {} : { imageSize: image_size }),
    ...(options.outputOptions ? outputOptions(params) : {}),
  };
  return {
    contents: [{ role: 'user', parts: [...(kind === 'edit' ? imageParts(params, call) : []), { text: prompt }] }],
    generationConfig: {
      responseModalities: ['IMAGE'],
      ...(Object.keys(config).length > 0 ? { imageConfig: config } : {}),
      ...(isObject(generationConfig) ? generationConfig : {}),
    },
    ...passed,
  };
}

function isOutput(name: string): boolean {
  return name === 'output_format' || name === 'output_compression';
}

/** Returns `imageOutputOptions`. Compression exists for JPEG only. */
function outputOptions({ output_format: format, output_compression: compression }: JsonObject): JsonObject {
  if (typeof format !== 'string' || format === '') return {};
  const quality = format === 'jpeg' && compression !== undefined ? { compressionQuality: Number(compression) } : {};
  return { imageOutputOptions: { mimeType: `image/${format}`, ...quality } };
}

function imageParts(params: JsonObject, call: OperationCall): JsonObject[] {
  const images = sentImages(params, call);
  if (images.length === 0) throw badParam('image', 'the image that is to be edited is expected');
  return images.map(({ contentType, body }) => ({
    inlineData: { mimeType: contentType, data: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64') },
  }));
}

function imageReply(reply: JsonObject, call: OperationCall, provider: string): JsonObject {
  const images = inlineDataOf(reply, 'image/');
  if (images.length === 0) throw noContent(provider, reply, 'image');
  const {
    candidates: _candidates,
    usageMetadata: counts,
    modelVersion: _version,
    responseId: _id,
    promptFeedback: _feedback,
    createTime: _created,
    ...others
  } = reply;
  return { ...imageList(images, call), ...(isObject(counts) ? { usage: imageTokens(counts) } : {}), provider, ...others };
}

/** Gemini sends no partial images. Each image becomes one event at the end of the stream. */
function imageStream(kind: 'generation' | 'edit'): StreamTranslator {
  const type = `image_${kind}.completed`;
  const images: { readonly mimeType: string; readonly data: string }[] = [];
  let counts: JsonObject | null = null;
  return {
    push({ data }) {
      if (!isObject(data)) return [];
      if (isObject(data.error)) return [{ event: 'error', data: { type: 'error', error: data.error } }];
      if (isObject(data.usageMetadata)) counts = { ...counts, ...data.usageMetadata };
      images.push(...inlineDataOf(data, 'image/'));
      return [];
    },
    end: () =>
      images.map(({ mimeType, data }, index) => {
        // The counts are the sum over all images.
        const usage = counts && index === images.length - 1 ? { usage: imageTokens(counts) } : {};
        return { event: type, data: { type, b64_json: data, output_format: mimeType.slice('image/'.length), ...usage } };
      }),
  };
}

function imageReader(provider: string): StreamReader {
  const reader = mediaStreamReader(provider, 'image/', 'image');
  let images = 0;
  return {
    ...reader,
    push(event) {
      reader.push(event);
      if (isObject(event.data)) images += inlineDataOf(event.data, 'image/').length;
    },
    usage: () => withUnit(reader.usage(), 'generated_images', images),
  };
}
