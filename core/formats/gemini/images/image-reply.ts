import type { OperationCall } from '../../../contract/provider/provider.ts';
import type { JsonObject } from '../../../contract/values/json/json.ts';
import type { Usage } from '../../../contract/values/models/usage.ts';
import { withUnit } from '../../media/media-usage.ts';
import { inlineDataOf } from '../reply-content.ts';
import { usageOf, usageOfReply } from '../usage.ts';

/** One image of a reply. */
export interface DrawnImage {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
  /** The prompt after the provider has rewritten it. */
  readonly revisedPrompt?: string;
}

/**
 * Returns images in the form of OpenAI's routes. `response_format: "url"` gets data URLs, because the images are not stored
 * anywhere.
 */
export function imageList(images: readonly DrawnImage[], call: OperationCall): JsonObject {
  const asUrl = call.params.response_format === 'url';
  return {
    created: call.nowSeconds,
    data: images.map(({ mimeType, data, revisedPrompt }) => ({
      ...(asUrl ? { url: `data:${mimeType};base64,${data}` } : { b64_json: data }),
      ...(revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt }),
    })),
    ...(images[0] ? { output_format: images[0].mimeType.slice('image/'.length) } : {}),
  };
}

/** Returns token counts in the form of OpenAI's images. */
export function imageTokens(counts: JsonObject): JsonObject {
  const { inputTokens, cacheReadTokens, outputTokens, imageInputTokens } = usageOf(counts);
  const input = inputTokens + cacheReadTokens;
  return {
    input_tokens: input,
    input_tokens_details: { text_tokens: Math.max(0, input - imageInputTokens), image_tokens: imageInputTokens },
    output_tokens: outputTokens,
    total_tokens: input + outputTokens,
  };
}

/** Returns the tokens of a reply and the number of its images. */
export function drawnUsage(reply: JsonObject): Usage | null {
  return withUnit(usageOfReply(reply), 'generated_images', inlineDataOf(reply, 'image/').length);
}
