import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { FormPart } from '../../contract/values/bodies/form.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { badParam } from '../../formats/bad-param.ts';
import { stabilityRatio } from '../../formats/media/aspect-ratio.ts';
import { type SentImage, sentImages } from '../../formats/media/image-content.ts';
import { withWidthAndHeight } from '../../formats/media/images.ts';
import { withUnit } from '../../formats/media/media-usage.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { passedImageParams } from '../../formats/openai/passed-params.ts';
import { typedEventsReader } from '../../formats/typed-events-reader.ts';
import { editPath, generationPath, isDiffusion3, isEngine, isTool } from './models.ts';

/** Images from a prompt. Stable Image Core and Ultra and Stable Diffusion 3 use forms, engines of version 1 use JSON. */
export const imageGenerate: Operation = {
  path: generationPath,
  toProvider: engineRequest,
  toContent: (params, call) => (isEngine(call.model) ? null : { kind: 'form', parts: generationForm(params, call) }),
  fromProvider: imageReply,
  usage: imageUsage,
  // The replies are never streamed, but the contract requires a reader.
  streamReader: () => typedEventsReader('stability-ai', []),
};

/** Edits of an image, by a tool (`inpaint`, `erase`, `outpaint`, …), or with a prompt by Ultra and Stable Diffusion 3. */
export const imageEdit: Operation = {
  ...imageGenerate,
  path: editPath,
  toProvider: undefined,
  toContent: (params, call) => ({ kind: 'form', parts: editForm(params, call) }),
};

/** OpenAI parameters without a meaning here, with the values that have no effect. */
const lost: Readonly<Record<string, readonly unknown[]>> = {
  n: [1, '1'],
  quality: ['auto'],
  style: [],
  response_format: ['b64_json'],
  background: ['auto'],
  moderation: ['auto'],
  output_compression: [],
  partial_images: [0],
  input_fidelity: [],
  stream: [false, 'false'],
  user: [],
};

/** Default strength of an edit by Stable Diffusion 3 and Ultra, which require the parameter. */
const usualStrength = 0.7;

function generationForm(params: JsonObject, call: OperationCall): FormPart[] {
  const { model, size, ...rest } = params;
  const ratio = rest.aspect_ratio === undefined ? stabilityRatio(size, call) : {};
  return fieldsOf({ ...(isDiffusion3(call.model) ? { model } : {}), ...passedImageParams(rest, call, lost), ...ratio });
}

function editForm(params: JsonObject, call: OperationCall): FormPart[] {
  const { model, size, image: _image, images: _images, mask: _mask, ...rest } = params;
  if (isEngine(call.model)) throw badParam('model', `${call.model} edits no images`);
  if (size !== undefined && size !== null && size !== 'auto') noteOnce(call.dropped, 'size');
  const [image, second] = sentImages(call.params, call);
  if (!image) throw badParam('image', 'an image is expected');
  const [mask] = sentImages(call.params, call, 'mask');
  const fields = passedImageParams(rest, call, lost);
  if (!isTool(call.model)) {
    if (mask) throw badParam('mask', `${call.model} changes whole images; masks are for inpaint and erase`);
    const whole = isDiffusion3(call.model) ? { model, mode: 'image-to-image' } : {};
    return [...fieldsOf({ ...whole, strength: usualStrength, ...fields }), imagePart('image', image)];
  }
  const isTransfer = call.model.endsWith('style-transfer');
  return [
    ...fieldsOf(fields),
    imagePart(isTransfer ? 'init_image' : 'image', image),
    ...(isTransfer && second ? [imagePart('style_image', second)] : []),
    ...(mask ? [imagePart('mask', mask)] : []),
  ];
}

/** https://platform.stability.ai/docs/api-reference#tag/SDXL-1.0-and-SD1.6 */
function engineRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { model: _model, prompt, negative_prompt: negative, n, text_prompts: own, ...rest } = params;
  const { size: _auto, ...fields } = rest.size === 'auto' || rest.size === null ? rest : withWidthAndHeight(rest, call);
  const prompts = [{ text: prompt }, ...(negative === undefined ? [] : [{ text: negative, weight: -1 }])];
  return {
    text_prompts: own ?? prompts,
    ...(n === undefined || n === null ? {} : { samples: n }),
    ...passedImageParams(fields, call, lost),
  };
}

/**
 * `{image, finish_reason, seed}`, or `{artifacts: [{base64, finishReason, seed}]}` of engines. A filtered image is included, but
 * blurred.
 */
function imageReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { image, artifacts, ...others } = reply;
  const head = { created: call.nowSeconds, provider: 'stability-ai' };
  if (typeof image === 'string') return { ...head, data: [{ b64_json: image }], ...others };
  if (!Array.isArray(artifacts)) return reply;
  const data = artifacts.filter(isArtifact).map(({ base64, finishReason, ...more }) => ({
    b64_json: base64,
    finish_reason: finishReason,
    ...more,
  }));
  return { ...head, data, ...others };
}

function imageUsage({ image, artifacts }: JsonObject): Usage | null {
  const count = Array.isArray(artifacts) ? artifacts.filter(isArtifact).length : Number(typeof image === 'string');
  return withUnit(null, 'generated_images', count);
}

function isArtifact(item: unknown): item is JsonObject {
  return isObject(item) && typeof item.base64 === 'string' && item.finishReason !== 'ERROR';
}

function fieldsOf(fields: JsonObject): FormPart[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return [{ name, filename: null, contentType: null, body: Buffer.from(text) }];
  });
}

function imagePart(name: string, { contentType, body }: SentImage): FormPart {
  return { name, filename: `${name}.${contentType.slice(contentType.indexOf('/') + 1)}`, contentType, body };
}
