import type { OperationCall } from '../../../contract/provider/provider.ts';
import type { JsonObject } from '../../../contract/values/json/json.ts';
import { badParam } from '../../../formats/bad-param.ts';
import { stabilityRatio } from '../../../formats/media/aspect-ratio.ts';
import { base64Of, sentImages } from '../../../formats/media/image-content.ts';
import { noteOnce } from '../../../formats/note-once.ts';
import { baseModelId } from '../model-id.ts';

/** Default strength of an edit by Stable Diffusion 3.5, which requires the parameter. */
const usualStrength = 0.7;

/** Stable Image Core and Ultra, Stable Diffusion 3.5 (docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-stability-diffusion.html). */
export function stabilityImage(params: JsonObject, call: OperationCall): JsonObject {
  const { size, ...rest } = params;
  return { ...ownFields(rest, call), ...(rest.aspect_ratio === undefined ? stabilityRatio(size, call) : {}) };
}

/**
 * Stable Diffusion 3.5 changes a whole image; the image services (inpaint, erase, search and replace, …) each take the fields of
 * their own task beside `image` and `mask` (docs.aws.amazon.com/bedrock/latest/userguide/stable-image-services.html).
 */
export function stabilityEdit(params: JsonObject, call: OperationCall): JsonObject {
  const { size, ...rest } = params;
  if (size !== undefined && size !== null && size !== 'auto') noteOnce(call.dropped, 'size');
  const [image, second] = sentImages(call.params, call).map(base64Of);
  if (image === undefined) throw badParam('image', 'an image is expected');
  const [mask] = sentImages(call.params, call, 'mask').map(base64Of);
  const fields = ownFields(rest, call);
  const id = baseModelId(call.model);
  if (/^stability\.(sd3|stable-image-(core|ultra))/.test(id)) {
    if (mask !== undefined) throw badParam('mask', `${id} changes whole images; masks are for stability.stable-image-inpaint`);
    return { mode: 'image-to-image', image, strength: usualStrength, ...fields };
  }
  if (id.includes('style-transfer'))
    return { init_image: image, ...(second === undefined ? {} : { style_image: second }), ...fields };
  return { image, ...(mask === undefined ? {} : { mask }), ...fields };
}

/** Fields that are numbers at the provider and texts in a form. */
const numberFields: ReadonlySet<string> = new Set([
  ...['seed', 'strength', 'grow_mask', 'left', 'right', 'up', 'down', 'creativity', 'control_strength', 'fidelity'],
  ...['style_strength', 'composition_fidelity', 'change_strength'],
]);

function ownFields(params: JsonObject, call: OperationCall): JsonObject {
  const { n, quality, style, ...rest } = params;
  if (n !== undefined && n !== null && Number(n) !== 1) noteOnce(call.dropped, 'n');
  if (quality !== undefined && quality !== null && quality !== 'auto') noteOnce(call.dropped, 'quality');
  if (style !== undefined && style !== null) noteOnce(call.dropped, 'style');
  return Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [
      name,
      numberFields.has(name) && typeof value === 'string' ? Number(value) : value,
    ]),
  );
}
