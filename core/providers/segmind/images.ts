import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { badParam } from '../../formats/bad-param.ts';
import { imageGenerations, withWidthAndHeight } from '../../formats/media/images.ts';
import { withUnit } from '../../formats/media/media-usage.ts';

/** Images. Each model is a path (https://www.segmind.com/models) and returns the image, or base64 on request. */
export const imageGenerate: Operation = {
  ...imageGenerations('segmind', modelPath, {
    renames: { n: 'samples' },
    refuses: ['response_format', 'quality', 'background', 'moderation', 'output_compression', 'user'],
    request: imageRequest,
    reply: imageReply,
    repliesWithImage: true,
  }),
  usage: imageUsage,
};

function modelPath({ model }: OperationCall): string {
  if (!/^[A-Za-z0-9][\w.-]{0,127}$/.test(model)) throw badParam('model', 'the name of a model is expected');
  return `/${model}`;
}

function imageRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { model: _model, size, ...rest } = params;
  const sized = size === undefined || size === null || size === 'auto' ? rest : withWidthAndHeight({ size, ...rest }, call);
  return { base64: true, ...(isStableDiffusion(call.model) ? withTheirNames(sized) : sized) };
}

/** Models of the Stable Diffusion line have other names for width and height than all later models. */
function isStableDiffusion(model: string): boolean {
  return /^(sdxl|sd\d|ssd|segmind-vega|kandinsky)/.test(model);
}

function withTheirNames({ width, height, ...rest }: JsonObject): JsonObject {
  return {
    ...(width === undefined ? {} : { img_width: width }),
    ...(height === undefined ? {} : { img_height: height }),
    ...rest,
  };
}

function imageReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { image, ...others } = reply;
  const images = imagesOf(image);
  if (images.length === 0) return reply;
  const data = images.map((item) => (/^https?:/.test(item) ? { url: item } : { b64_json: item }));
  return { created: call.nowSeconds, data, provider: 'segmind', ...others };
}

function imageUsage({ image }: JsonObject): Usage | null {
  return withUnit(null, 'generated_images', imagesOf(image).length);
}

function imagesOf(image: unknown): string[] {
  return (Array.isArray(image) ? image : [image]).filter((item) => typeof item === 'string');
}
