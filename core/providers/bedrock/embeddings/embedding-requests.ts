import type { OperationCall } from '../../../contract/provider/provider.ts';
import type { JsonObject } from '../../../contract/values/json/json.ts';
import { badParam } from '../../../formats/bad-param.ts';
import { noteOnce } from '../../../formats/note-once.ts';
import { type EmbeddingInput, inlineImage } from '../../../formats/openai/embedding-inputs.ts';

/** Makes the request body for a family of embedding models. `passed` holds the parameters that OpenAI's format lacks. */
export type EmbeddingRequest = (
  inputs: readonly EmbeddingInput[],
  dimensions: unknown,
  passed: JsonObject,
  call: OperationCall,
) => JsonObject;

const familyRequests: readonly (readonly [RegExp, EmbeddingRequest])[] = [
  [/^cohere\.embed/, cohere],
  [/^amazon\.titan-embed/, titan],
  [/^amazon\.nova-.*embed/, nova],
  [/^twelvelabs\.marengo-embed-2/, marengo2],
  [/^twelvelabs\.marengo-embed/, marengo3],
];

/** Returns the request format for the model's family. Throws `bad_request` for unknown embedding models. */
export function requestOfFamily(id: string): EmbeddingRequest {
  const found = familyRequests.find(([pattern]) => pattern.test(id));
  if (!found) throw badParam('model', `embeddings of ${id} are not supported on bedrock`);
  return found[1];
}

/** docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html, …-embed-v4.html */
function cohere(inputs: readonly EmbeddingInput[], dimensions: unknown, passed: JsonObject, call: OperationCall): JsonObject {
  const isV4 = call.model.includes('-v4');
  if (dimensions !== undefined && !isV4) noteOnce(call.dropped, 'dimensions');
  const size = dimensions !== undefined && isV4 ? { output_dimension: dimensions } : {};
  if (inputs.every((input) => input.image === null)) {
    return { texts: inputs.map((input) => input.text), input_type: 'search_document', ...size, ...passed };
  }
  const images = inputs.map((input) => input.image);
  if (inputs.every((input) => input.text === null)) return { images, input_type: 'image', ...size, ...passed };
  if (!isV4) throw badParam('input', 'texts and images together are embedded only by Cohere Embed v4');
  return { inputs: inputs.map(cohereContent), input_type: 'search_document', ...size, ...passed };
}

function cohereContent({ text, image }: EmbeddingInput): JsonObject {
  return {
    content: [
      ...(text === null ? [] : [{ type: 'text', text }]),
      ...(image === null ? [] : [{ type: 'image_url', image_url: image }]),
    ],
  };
}

/** docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html, …-titan-embed-mm.html */
function titan(inputs: readonly EmbeddingInput[], dimensions: unknown, passed: JsonObject, call: OperationCall): JsonObject {
  const { text, image } = only(inputs, 'Titan');
  const isMultimodal = call.model.includes('-embed-image');
  if (image !== null && !isMultimodal) throw badParam('input', 'images are embedded only by the multimodal Titan model');
  return {
    ...(text === null ? {} : { inputText: text }),
    ...(image === null ? {} : { inputImage: inlineImage(image, 'bedrock').base64 }),
    ...titanSize(isMultimodal, dimensions, call),
    ...passed,
  };
}

function titanSize(isMultimodal: boolean, dimensions: unknown, call: OperationCall): JsonObject {
  if (dimensions === undefined) return {};
  if (isMultimodal) return { embeddingConfig: { outputEmbeddingLength: dimensions } };
  if (call.model.includes('-v2')) return { dimensions };
  noteOnce(call.dropped, 'dimensions');
  return {};
}

/** docs.aws.amazon.com/nova/latest/userguide/embeddings-schema.html; `singleEmbeddingParams` of the caller take precedence. */
function nova(inputs: readonly EmbeddingInput[], dimensions: unknown, passed: JsonObject): JsonObject {
  const { text, image } = only(inputs, 'Nova');
  if (text !== null && image !== null) throw badParam('input', 'Nova models embed a text or an image, not both in one');
  const { singleEmbeddingParams: own, ...others } = passed;
  return {
    taskType: 'SINGLE_EMBEDDING',
    singleEmbeddingParams: {
      embeddingPurpose: 'GENERIC_INDEX',
      ...(dimensions === undefined ? {} : { embeddingDimension: dimensions }),
      ...(text === null ? {} : { text: { truncationMode: 'END', value: text } }),
      ...(image === null ? {} : { image: novaImage(image) }),
      ...(own as JsonObject | undefined),
    },
    ...others,
  };
}

function novaImage(image: string): JsonObject {
  if (image.startsWith('s3://'))
    return { format: image.slice(image.lastIndexOf('.') + 1), source: { s3Location: { uri: image } } };
  const { format, base64 } = inlineImage(image, 'bedrock');
  return { format, source: { bytes: base64 } };
}

/** docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-marengo.html */
function marengo2(inputs: readonly EmbeddingInput[], dimensions: unknown, passed: JsonObject, call: OperationCall): JsonObject {
  const { text, image } = only(inputs, 'Marengo');
  if (dimensions !== undefined) noteOnce(call.dropped, 'dimensions');
  if (text !== null && image !== null) throw badParam('input', 'Marengo 2.7 embeds a text or an image, not both in one');
  if (image === null) return { inputType: 'text', inputText: text, ...passed };
  return { inputType: 'image', mediaSource: marengoSource(image), ...passed };
}

/** docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-marengo-3.html */
function marengo3(inputs: readonly EmbeddingInput[], dimensions: unknown, passed: JsonObject, call: OperationCall): JsonObject {
  const { text, image } = only(inputs, 'Marengo');
  if (dimensions !== undefined) noteOnce(call.dropped, 'dimensions');
  if (image === null) return { inputType: 'text', text: { inputText: text }, ...passed };
  const mediaSource = marengoSource(image);
  if (text === null) return { inputType: 'image', image: { mediaSource }, ...passed };
  return { inputType: 'text_image', text_image: { inputText: text, mediaSource }, ...passed };
}

function marengoSource(image: string): JsonObject {
  return image.startsWith('s3://') ? { s3Location: { uri: image } } : { base64String: inlineImage(image, 'bedrock').base64 };
}

function only(inputs: readonly EmbeddingInput[], family: string): EmbeddingInput {
  if (inputs.length > 1) throw badParam('input', `${family} models embed one text per call`);
  return inputs[0] as EmbeddingInput;
}
