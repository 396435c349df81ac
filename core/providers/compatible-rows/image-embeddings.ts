import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { type EmbeddingInput, embeddingInputs } from '../../formats/openai/embedding-inputs.ts';

/** Voyage's models of texts and images have a path of their own (https://docs.voyageai.com/reference/multimodal-embeddings-api). */
export function voyagePath({ model }: OperationCall): string {
  return isMultimodal(model) ? '/multimodalembeddings' : '/embeddings';
}

/**
 * Lists of numbers are the default, and the provider rejects a request for them by name (it has only `base64`). Models of texts
 * and images take every input as a list of contents. Throws `bad_request`.
 */
export function voyageRequest(params: JsonObject, call: OperationCall): JsonObject {
  if (!isMultimodal(call.model)) {
    if (params.encoding_format !== 'float') return params;
    const { encoding_format: _, ...rest } = params;
    return rest;
  }
  const { input, inputs, encoding_format: format, ...rest } = params;
  const content = inputs ?? embeddingInputs(input, 'voyage').map(voyageInput);
  return { inputs: content, ...(format === 'base64' ? { output_encoding: format } : {}), ...rest };
}

/** Jina's models of texts and images accept `{text}` and `{image}`. Content parts of OpenAI's form are converted to these. */
export function jinaRequest(params: JsonObject): JsonObject {
  const items = Array.isArray(params.input) ? params.input : [params.input];
  if (!items.some((item) => isObject(item) && (item.type !== undefined || isObject(item.image) || item.content !== undefined))) {
    return params;
  }
  return { ...params, input: embeddingInputs(items, 'jina').map(jinaInput) };
}

function isMultimodal(model: string): boolean {
  return model.includes('multimodal');
}

function voyageInput({ text, image }: EmbeddingInput): JsonObject {
  const parts: JsonObject[] = text === null ? [] : [{ type: 'text', text }];
  if (image?.startsWith('data:')) parts.push({ type: 'image_base64', image_base64: image });
  else if (image !== null) parts.push({ type: 'image_url', image_url: image });
  return { content: parts };
}

function jinaInput({ text, image }: EmbeddingInput): JsonObject {
  if (text !== null && image !== null) throw badParam('input', 'jina embeds a text or an image, not both as one');
  if (image === null) return { text };
  return { image: image.replace(/^data:[^,]*,/, '') };
}
