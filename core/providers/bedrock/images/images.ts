import type { Operation, OperationCall } from '../../../contract/provider/provider.ts';
import type { JsonObject } from '../../../contract/values/json/json.ts';
import type { Usage } from '../../../contract/values/models/usage.ts';
import { badParam } from '../../../formats/bad-param.ts';
import { withUnit } from '../../../formats/media/media-usage.ts';
import { passedImageParams } from '../../../formats/openai/passed-params.ts';
import { typedEventsReader } from '../../../formats/typed-events-reader.ts';
import { baseModelId, makerOf, modelSegment } from '../model-id.ts';
import { amazonEdit, amazonImage } from './images-amazon.ts';
import { stabilityEdit, stabilityImage } from './images-stability.ts';

/** Images by InvokeModel, each maker in its own format: Amazon (Nova Canvas, Titan Image Generator) and Stability AI. */
export const imageGenerate: Operation = {
  path: (call) => `/model/${modelSegment(call.model)}/invoke`,
  toProvider: (params, call) => {
    const request = { amazon: amazonImage, stability: stabilityImage }[imageMaker(call)];
    return request(ownParams(params, call), call);
  },
  fromProvider: imageReply,
  usage: imageUsage,
  // The replies are never streamed, but the contract requires a reader.
  streamReader: () => typedEventsReader('bedrock', []),
};

/** Edits of an image, from the client's form or JSON. */
export const imageEdit: Operation = {
  ...imageGenerate,
  toProvider: undefined,
  toContent: (params, call) => {
    const request = { amazon: amazonEdit, stability: stabilityEdit }[imageMaker(call)];
    const { image: _image, images: _images, mask: _mask, ...fields } = params;
    return { kind: 'json', body: request(ownParams(fields, call), call) };
  },
};

/** Variations are edits without a prompt. Amazon's models create them from an image alone; other models require a prompt. */
export const imageVariation: Operation = {
  ...imageEdit,
  toContent: (params, call) => {
    if (imageMaker(call) !== 'amazon' && typeof params.prompt !== 'string') {
      throw badParam(
        'prompt',
        `${baseModelId(call.model)} changes an image by words; without them Nova Canvas and Titan vary one`,
      );
    }
    return imageEdit.toContent?.(params, call) ?? null;
  },
};

function imageMaker({ model }: OperationCall): 'amazon' | 'stability' {
  const id = baseModelId(model);
  if (/^amazon\.(nova-canvas|titan-image)/.test(id)) return 'amazon';
  if (makerOf(model) === 'stability') return 'stability';
  throw badParam('model', `images of ${id} are not supported on bedrock`);
}

/** Parameters of OpenAI that none of these models has, with the values that have no effect. */
const lost: Readonly<Record<string, readonly unknown[]>> = {
  response_format: ['b64_json'],
  background: ['auto'],
  moderation: ['auto'],
  output_compression: [],
  partial_images: [0],
  input_fidelity: [],
  stream: [false, 'false'],
  user: [],
};

/** Returns the parameters that the models may accept: all but the model's name and OpenAI's own. */
function ownParams({ model: _model, ...params }: JsonObject, call: OperationCall): JsonObject {
  return passedImageParams(params, call, lost);
}

/** Both makers return base64 in `images`. Their fields for seeds and filters are preserved. */
function imageReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { images, ...others } = reply;
  if (!Array.isArray(images)) return reply;
  const data = images.filter((image) => typeof image === 'string').map((image) => ({ b64_json: image }));
  return { created: call.nowSeconds, data, provider: 'bedrock', ...others };
}

/** Counts the generated images. Images that a filter withheld are null in the list and not billed. */
function imageUsage({ images }: JsonObject): Usage | null {
  return Array.isArray(images)
    ? withUnit(null, 'generated_images', images.filter((image) => typeof image === 'string').length)
    : null;
}
