import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { type EmbeddingItem, mediaUrl } from '../../formats/gemini/embedding-input.ts';
import { noteOnce } from '../../formats/note-once.ts';

/** True for the models whose instances hold text, image and video side by side. */
export function isMultimodal(model: string): boolean {
  return model.includes('multimodalembedding');
}

/** https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/multimodal-embeddings-api */
export function multimodalRequest(items: readonly EmbeddingItem[], params: JsonObject, call: OperationCall): JsonObject {
  for (const name of ['task_type', 'title']) if (params[name] !== undefined) noteOnce(call.dropped, name);
  const { dimensions } = params;
  return {
    instances: items.map((item, index) => instanceOf(item, `input[${index}]`)),
    ...(dimensions === undefined ? {} : { parameters: { dimension: dimensions } }),
  };
}

/**
 * Returns the vectors of one instance. `embedding` is that of the text, else of the image, else of the first segment of the
 * video. The others are beside it.
 */
export function multimodalVectors(prediction: JsonObject): { readonly embedding: unknown; readonly beside: JsonObject } {
  const { textEmbedding, imageEmbedding, videoEmbeddings } = prediction;
  const stretches = objectsIn(videoEmbeddings).map((stretch) => ({
    start_offset: stretch.startOffsetSec,
    end_offset: stretch.endOffsetSec,
    embedding: stretch.embedding,
  }));
  const beside = {
    ...(imageEmbedding === undefined ? {} : { image_embedding: imageEmbedding }),
    ...(stretches.length > 0 ? { video_embeddings: stretches } : {}),
  };
  return { embedding: textEmbedding ?? imageEmbedding ?? stretches[0]?.embedding, beside };
}

function instanceOf(item: EmbeddingItem, path: string): JsonObject {
  if (typeof item === 'string') return { text: item };
  const { text, image, video } = item;
  const instance = {
    ...(typeof text === 'string' && text !== '' ? { text } : {}),
    ...(image === undefined || image === null ? {} : { image: medium(image, 'image/png', `${path}.image`) }),
    ...(video === undefined || video === null ? {} : { video: videoOf(video, `${path}.video`) }),
  };
  if (Object.keys(instance).length === 0) throw badParam(path, 'text, image or video is expected');
  return instance;
}

function videoOf(video: unknown, path: string): JsonObject {
  const { start_offset, end_offset, interval } = isObject(video) ? video : {};
  const segment = {
    ...(start_offset === undefined ? {} : { startOffsetSec: start_offset }),
    ...(end_offset === undefined ? {} : { endOffsetSec: end_offset }),
    ...(interval === undefined ? {} : { intervalSec: interval }),
  };
  return { ...medium(video, 'video/mp4', path), ...(Object.keys(segment).length > 0 ? { videoSegmentConfig: segment } : {}) };
}

function medium(given: unknown, mediaType: string, path: string): JsonObject {
  const url = mediaUrl(given, mediaType, path);
  if (url.startsWith('gs://')) return { gcsUri: url };
  const inline = /^data:([\w.+/-]+);base64,/.exec(url);
  if (!inline) throw badParam(path, 'base64, a data URL or a gs:// address is expected');
  return { bytesBase64Encoded: url.slice(inline[0].length), mimeType: inline[1] };
}
