import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { badParam } from '../../../formats/bad-param.ts';
import { base64Of, sentImages } from '../../../formats/media/image-content.ts';
import { noteOnce } from '../../../formats/note-once.ts';

/**
 * Nova Canvas and Titan Image Generator: a task with parameters of its own and the configuration that all tasks share
 * (docs.aws.amazon.com/nova/latest/userguide/image-gen-access.html). A caller may send whole objects of that format (`taskType`,
 * `textToImageParams`, `imageGenerationConfig`, …). They take precedence over OpenAI's parameters.
 */
export function amazonImage(params: JsonObject, call: OperationCall): JsonObject {
  const { prompt, negative_prompt: negative, style, ...rest } = params;
  const { config, others } = configOf(rest, call);
  const text = { ...given('text', prompt), ...given('negativeText', negative), ...canvasStyle(style, call) };
  return task('TEXT_IMAGE', 'textToImageParams', text, config, others);
}

/**
 * With a mask, or a description of one in `mask_prompt`, the masked part is redrawn. Without, the images are varied. Masks are
 * black where the image changes. OpenAI's masks are transparent there.
 */
export function amazonEdit(params: JsonObject, call: OperationCall): JsonObject {
  const images = sentImages(call.params, call).map(base64Of);
  const [image] = images;
  if (image === undefined) throw badParam('image', 'an image is expected');
  const [mask] = sentImages(call.params, call, 'mask').map(base64Of);
  const {
    prompt,
    negative_prompt: negative,
    mask_prompt: maskPrompt,
    similarity_strength: strength,
    style: _style,
    ...rest
  } = params;
  const { config, others } = configOf(rest, call);
  const text = { ...given('text', prompt), ...given('negativeText', negative) };
  // This task has no configuration.
  if (others.taskType === 'BACKGROUND_REMOVAL') return { ...others, backgroundRemovalParams: { image } };
  if (others.taskType === 'OUTPAINTING') {
    return task('OUTPAINTING', 'outPaintingParams', { ...text, image, ...maskOf(mask, maskPrompt) }, config, others);
  }
  if (mask !== undefined || typeof maskPrompt === 'string') {
    if (images.length > 1) throw badParam('image', 'one image is expected where there is a mask');
    return task('INPAINTING', 'inPaintingParams', { ...text, image, ...maskOf(mask, maskPrompt) }, config, others);
  }
  const similarity = strength === undefined ? {} : { similarityStrength: Number(strength) };
  return task('IMAGE_VARIATION', 'imageVariationParams', { images, ...text, ...similarity }, config, others);
}

function task(type: string, field: string, params: JsonObject, config: JsonObject, others: JsonObject): JsonObject {
  const { imageGenerationConfig: ownConfig, [field]: own, taskType = type, ...rest } = others;
  const shared = { ...config, ...(isObject(ownConfig) ? ownConfig : {}) };
  return {
    taskType,
    // A task that the caller chooses has its own parameters.
    ...(taskType === type ? { [field]: { ...params, ...(isObject(own) ? own : {}) } } : {}),
    ...(Object.keys(shared).length === 0 ? {} : { imageGenerationConfig: shared }),
    ...rest,
  };
}

/** Form fields are texts, so numeric ones are converted here. */
function configOf(params: JsonObject, call: OperationCall): { config: JsonObject; others: JsonObject } {
  const { n, size, quality, seed, cfg_scale: cfgScale, output_format: format, ...others } = params;
  if (format !== undefined && format !== null && format !== 'png') noteOnce(call.dropped, 'output_format');
  const numbers = { numberOfImages: n, seed, cfgScale };
  const config: JsonObject = { ...sizeOf(size, call), ...qualityOf(quality, call) };
  for (const [name, value] of Object.entries(numbers)) {
    if (value !== undefined && value !== null) config[name] = Number(value);
  }
  return { config, others };
}

function sizeOf(size: unknown, call: OperationCall): JsonObject {
  if (size === undefined || size === null || size === 'auto') return {};
  const found = typeof size === 'string' ? /^(\d{2,5})x(\d{2,5})$/.exec(size) : null;
  if (found) return { width: Number(found[1]), height: Number(found[2]) };
  noteOnce(call.dropped, 'size');
  return {};
}

/** The provider has two qualities. */
function qualityOf(quality: unknown, call: OperationCall): JsonObject {
  if (quality === undefined || quality === null || quality === 'auto') return {};
  if (quality === 'standard' || quality === 'premium') return { quality };
  noteOnce(call.adapted, 'quality');
  return { quality: quality === 'hd' || quality === 'high' ? 'premium' : 'standard' };
}

/** Nova Canvas has styles of its own. OpenAI's two styles do not exist there. */
function canvasStyle(style: unknown, call: OperationCall): JsonObject {
  if (style === undefined || style === null) return {};
  if (call.model.includes('nova-canvas') && style !== 'vivid' && style !== 'natural') return { style };
  noteOnce(call.dropped, 'style');
  return {};
}

function maskOf(mask: string | undefined, maskPrompt: unknown): JsonObject {
  return mask === undefined ? given('maskPrompt', maskPrompt) : { maskImage: mask };
}

function given(name: string, value: unknown): JsonObject {
  return value === undefined || value === null ? {} : { [name]: value };
}
