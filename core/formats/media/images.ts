import type { BytesReply, Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { StreamReader } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { roughImageUsage } from '../../contract/values/models/rough-image-usage.ts';
import { emptyUsage, type Usage } from '../../contract/values/models/usage.ts';
import { withoutRefused, withRenames } from '../openai/chat-request.ts';
import { refuseError } from '../openai/provider-error.ts';
import { typedEventsReader } from '../typed-events-reader.ts';
import { mediaUsage, withUnit } from './media-usage.ts';

/** Differences between a provider's images and OpenAI's. An absent field means no difference. */
export interface ImageQuirks {
  /** Default `/images/generations`, below the prefix of the API. */
  readonly path?: string;
  /** The whole path below the base URL, if it depends on the call. */
  readonly pathOf?: (call: OperationCall) => string;
  readonly renames?: Readonly<Record<string, string>>;
  /** OpenAI parameters that the provider rejects or ignores. They are removed and reported. */
  readonly refuses?: readonly string[];
  /** Makes the remaining changes to a request. Returns the same object if it changes nothing. */
  readonly request?: (params: JsonObject, call: OperationCall) => JsonObject;
  /** Makes the remaining changes to a reply. Returns the same object if it changes nothing. */
  readonly reply?: (reply: JsonObject, call: OperationCall) => JsonObject;
  /** True if some models reply with the image bytes instead of JSON. */
  readonly repliesWithImage?: boolean;
}

/** Image generations of an OpenAI-compatible provider (https://platform.openai.com/docs/api-reference/images/create). */
export function imageGenerations(id: string, path: (call: OperationCall) => string, quirks: ImageQuirks = {}): Operation {
  return {
    ...imageReplies(id, quirks.pathOf ?? path),
    ...(quirks.reply ? {} : opaqueImages),
    ...(quirks.repliesWithImage ? { fromBytes: listOfOne } : {}),
    toProvider: (params, call) => {
      const body = withoutRefused(withRenames(params, quirks, call), quirks, call);
      return quirks.request ? quirks.request(body, call) : body;
    },
    fromProvider: (reply, call) => refuseError(id, quirks.reply ? quirks.reply(reply, call) : reply, 'data'),
  };
}

/** Edits and variations: the client's form or JSON is sent unchanged. */
export function images(id: string, path: (call: OperationCall) => string): Operation {
  return { ...imageReplies(id, path), ...opaqueImages, fromProvider: (reply) => refuseError(id, reply, 'data') };
}

function imageReplies(id: string, path: (call: OperationCall) => string): Operation {
  return { path, usage: imageUsage, streamReader: () => imageEvents(id) };
}

const opaqueImages = { opaqueMember: 'b64_json' };

/** Providers report usage behind the previews of an image, the last of which is almost the image. A stream that ends before has an estimate. */
function imageEvents(id: string): StreamReader {
  const reader = typedEventsReader(id, ['image_generation.completed', 'image_edit.completed'], (raw, ends) =>
    withUnit(raw ? mediaUsage(raw) : null, 'generated_images', ends),
  );
  let ofPreview: Usage | null = null;
  return {
    ...reader,
    push(event) {
      reader.push(event);
      const { data } = event;
      if (isObject(data) && /\.partial_image$/.test(String(data.type ?? event.event))) ofPreview = roughImageUsage(data);
    },
    usage: () => reader.usage() ?? ofPreview,
  };
}

/** Returns the tokens if the reply has counts, and always the number of images. */
function imageUsage(reply: JsonObject): Usage | null {
  const result = isObject(reply.result) ? reply.result : {};
  const list = [reply.data, reply.images, reply.base64].find(Array.isArray);
  const count = list?.length ?? (typeof result.image === 'string' ? 1 : 0);
  const usage = withUnit(isObject(reply.usage) ? mediaUsage(reply.usage) : null, 'generated_images', count);
  return isObject(reply.svg_usage) ? withAuthor(usage ?? emptyUsage(), reply.svg_usage) : usage;
}

/** Returns usage whose `raw` has the tokens of the model that has written an SVG. They are beside those of the image, and have a price of their own. */
function withAuthor(usage: Usage, svgUsage: JsonObject): Usage {
  return { ...usage, raw: { ...usage.raw, svg_usage: svgUsage } };
}

/** Returns the list of the route for a reply that is one image. */
function listOfOne({ body }: BytesReply, call: OperationCall): JsonObject {
  const base64 = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64');
  return { created: call.nowSeconds, data: [{ b64_json: base64 }] };
}

/**
 * Converts `size` (`1024x768`) to two numbers, for providers with `width` and `height`. A size of another form is dropped and
 * reported.
 */
export function withWidthAndHeight(params: JsonObject, call: OperationCall): JsonObject {
  const { size, ...rest } = params;
  if (size === undefined) return params;
  const found = typeof size === 'string' ? /^(\d{2,5})x(\d{2,5})$/.exec(size) : null;
  if (!found) {
    call.dropped.push('size');
    return rest;
  }
  call.adapted.push('size->width,height');
  return { width: Number(found[1]), height: Number(found[2]), ...rest };
}
