import { type ImageQuirks, withWidthAndHeight } from '../../formats/media/images.ts';
import type { RerankQuirks } from '../../formats/openai/rerank.ts';

/**
 * Images have two numbers for the size, and another name for base64 (https://github.com/togethercomputer/openapi,
 * `/images/generations`).
 */
export const togetherImages: ImageQuirks = {
  refuses: ['background', 'moderation', 'quality', 'style', 'user'],
  request: (params, call) => {
    const body = withWidthAndHeight(params, call);
    return body.response_format === 'b64_json' ? { ...body, response_format: 'base64' } : body;
  },
};

/** Cohere's form with token counts (https://docs.together.ai/reference/rerank-1). */
export const togetherRerank: RerankQuirks = { refuses: ['max_tokens_per_doc', 'priority'] };
