import type { Operation, OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../../contract/values/json/json.ts';
import { badParam } from '../../bad-param.ts';
import { sentImages } from '../../media/image-content.ts';
import { unitUsage } from '../../media/media-usage.ts';
import { noteOnce } from '../../note-once.ts';
import { passedImageParams } from '../../openai/passed-params.ts';
import { noContent } from '../reply-content.ts';
import { geminiStreamReader } from '../usage.ts';
import { imageList } from './image-reply.ts';
import { imageSizeOf } from './image-size.ts';

/** Aspect ratios of Imagen. */
const imagenShapes = ['1:1', '3:4', '4:3', '9:16', '16:9'] as const;

/** OpenAI image parameters that Imagen lacks, with the values that have no effect. */
const lost: Readonly<Record<string, readonly unknown[]>> = {
  quality: ['auto', 'standard'],
  style: ['vivid'],
  background: ['auto', 'opaque'],
  moderation: ['auto'],
  partial_images: [0, '0'],
  input_fidelity: [],
  user: [],
};

/** True for the models that use `predict`. */
export function isImagen(model: string): boolean {
  return /(^|[/.])(imagen|imagegeneration)/.test(model);
}

/**
 * Generates images by `predict`, for Imagen models and servers with their API. Google has shut down its Imagen models in favour
 * of Gemini's image models. `path` returns the path of the model, without the method.
 */
export function imagen(provider: string, kind: 'generation' | 'edit', path: (call: OperationCall) => string): Operation {
  const shaped = (params: JsonObject, call: OperationCall): JsonObject => imagenRequest(params, call, kind);
  return {
    path: (call) => `${path(call)}:predict`,
    toProvider: shaped,
    toContent: (params, call) => ({ kind: 'json', body: shaped(params, call) }),
    fromProvider: (reply, call) => imagenReply(reply, call, provider),
    usage: (reply) => {
      const count = drawn(reply).length;
      return count > 0 ? unitUsage('generated_images', count, null) : null;
    },
    // Never streamed, but the contract requires a reader.
    streamReader: () => geminiStreamReader(provider),
  };
}

function imagenRequest(params: JsonObject, call: OperationCall, kind: 'generation' | 'edit'): JsonObject {
  const { model: _model, prompt, n, size, response_format, output_format, output_compression, stream, ...rest } = params;
  const { image: _image, images: _images, mask: _mask, seed, parameters, aspect_ratio, image_size, ...others } = rest;
  if (typeof prompt !== 'string' || prompt === '') throw badParam('prompt', 'a description of the image is expected');
  if (call.stream || stream === true) throw badParam('stream', `${call.model} does not stream`);
  const passed = passedImageParams(others, call, lost);
  if (response_format === 'url') noteOnce(call.adapted, 'response_format:url->data URL');
  const shape = imageSizeOf(size, call, imagenShapes);
  const mimeType = typeof output_format === 'string' && output_format !== '' ? `image/${output_format}` : undefined;
  const compressionQuality = output_compression === undefined ? undefined : Number(output_compression);
  const asked = {
    sampleCount: n === undefined || n === null || n === '' ? 1 : Number(n),
    aspectRatio: aspect_ratio ?? shape.aspectRatio,
    sampleImageSize: image_size ?? (shape.imageSize === undefined ? undefined : '2K'),
    seed,
    outputOptions: mimeType === undefined ? undefined : { mimeType, compressionQuality },
    ...(kind === 'edit' ? { editMode: 'EDIT_MODE_DEFAULT' } : {}),
    ...(isObject(parameters) ? parameters : {}),
  };
  return {
    instances: [{ prompt, ...(kind === 'edit' ? { referenceImages: referenceImages(params, call) } : {}) }],
    parameters: JSON.parse(JSON.stringify(asked)),
    ...passed,
  };
}

/** https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api-edit */
function referenceImages(params: JsonObject, call: OperationCall): JsonObject[] {
  const images = sentImages(params, call);
  if (images.length === 0) throw badParam('image', 'the image that is to be edited is expected');
  // OpenAI marks the area to change by transparency, Imagen by white. A mask in the wrong form would change the wrong area.
  if (sentImages(params, call, 'mask').length > 0) throw badParam('mask', 'Imagen does not support masks on this route');
  return images.map(({ body }, index) => ({
    referenceType: 'REFERENCE_TYPE_RAW',
    referenceId: index + 1,
    referenceImage: { bytesBase64Encoded: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64') },
  }));
}

function drawn(reply: JsonObject): JsonObject[] {
  const list = objectsIn(reply.predictions);
  return list.filter(({ bytesBase64Encoded }) => typeof bytesBase64Encoded === 'string');
}

function imagenReply(reply: JsonObject, call: OperationCall, provider: string): JsonObject {
  const {
    predictions,
    deployedModelId: _deployed,
    model: _model,
    modelDisplayName: _name,
    modelVersionId: _version,
    ...others
  } = reply;
  const images = drawn(reply).map(({ bytesBase64Encoded, mimeType, prompt }) => ({
    mimeType: typeof mimeType === 'string' ? mimeType : 'image/png',
    data: String(bytesBase64Encoded),
    ...(typeof prompt === 'string' ? { revisedPrompt: prompt } : {}),
  }));
  if (images.length > 0) return { ...imageList(images, call), provider, ...others };
  const filtered = objectsIn(predictions).map((one) => one.raiFilteredReason);
  const reason = filtered.find((text) => typeof text === 'string');
  throw noContent(provider, { candidates: [{ finishMessage: reason }] }, 'image');
}
