import type { OperationCall } from '../../contract/provider/provider.ts';
import { type FormPart, filesOf } from '../../contract/values/bodies/form.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../bad-param.ts';

/** One image of an edit, sent as file, base64 or data URL. */
export interface SentImage {
  /** `image/png` if the source names none. */
  readonly contentType: string;
  readonly body: Uint8Array;
}

/**
 * Returns the images of an edit from the client's form, or from its JSON: OpenAI's `images: [{image_url}]`, or `image` with
 * base64, a data URL, or a list of them. Web addresses are not fetched. Throws `bad_request`.
 */
export function sentImages(params: JsonObject, call: OperationCall, name = 'image'): SentImage[] {
  if (call.form) return filesOf(call.form, name).map(fromPart);
  const given = name === 'image' ? (params.images ?? params.image) : params[name];
  if (given === undefined || given === null) return [];
  return (Array.isArray(given) ? given : [given]).map((item) => fromJson(item, name));
}

/** Converts a JSON edit to a form, which many providers require. */
export function editForm(params: JsonObject, call: OperationCall): FormPart[] {
  const { images: _images, image: _image, mask: _mask, ...fields } = params;
  const parts = Object.entries(fields).flatMap(([name, value]) => fieldOf(name, value));
  for (const [name, list] of [
    ['image', sentImages(params, call)],
    ['mask', sentImages(params, call, 'mask')],
  ] as const) {
    for (const [index, { contentType, body }] of list.entries()) {
      const extension = contentType.slice(contentType.indexOf('/') + 1);
      parts.push({
        name: list.length > 1 ? `${name}[]` : name,
        filename: `${name}-${index + 1}.${extension}`,
        contentType,
        body,
      });
    }
  }
  return parts;
}

/** `data:image/png;base64,…` */
export function dataUrl(image: SentImage): string {
  return `data:${image.contentType};base64,${base64Of(image)}`;
}

/** Returns the image as base64, for JSON. */
export function base64Of({ body }: SentImage): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64');
}

function fromPart({ contentType, body }: FormPart): SentImage {
  return { contentType: contentType?.startsWith('image/') ? contentType : 'image/png', body };
}

function fromJson(item: unknown, name: string): SentImage {
  const text = isObject(item) ? (item.image_url ?? item.b64_json) : item;
  if (typeof text !== 'string') throw badParam(name, 'an image as base64 or data URL is expected');
  const url = /^data:(image\/[\w.+-]+);base64,/.exec(text);
  if (!url && /^[a-z]+:/i.test(text)) throw badParam(name, 'this provider takes images only as base64 or data URL');
  const body = Buffer.from(url ? text.slice(url[0].length) : text, 'base64');
  if (body.length === 0) throw badParam(name, 'an image as base64 or data URL is expected');
  return { contentType: url?.[1] ?? 'image/png', body };
}

/** Returns a parameter as text fields of a form: one for each item of a list, JSON for objects, none for null and undefined. */
export function fieldOf(name: string, value: unknown): FormPart[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => fieldOf(`${name}[]`, item));
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return [{ name, filename: null, contentType: null, body: Buffer.from(text) }];
}
