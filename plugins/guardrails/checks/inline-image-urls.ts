import * as v from 'valibot';
import { findHeader } from '../../../core/contract/values/http/http.ts';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import { counted } from '../../../core/contract/values/text/counted.ts';
import { within } from '../../../core/contract/values/time/within.ts';
import { askedProviders } from './asked-providers.ts';
import { BlockedAddress, CallError, isBlocked } from './call-service.ts';
import { type Check, type CheckServices, defineCheck, type Outcome, type Subject } from './check.ts';

/** The connector reads replies up to this size. */
const bytesMax = 1024 * 1024;
const imagesMax = 20;
const types = /^image\/(?:png|jpeg|gif|webp|bmp|tiff|heic|heif)$/;

const parameters = v.strictObject({
  providers: v.optional(v.pipe(v.array(v.string()), v.maxLength(100)), []),
  maxSizeBytes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 20_971_520),
  timeoutMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(60_000)), 30_000),
});
type Parameters = v.InferOutput<typeof parameters>;

/**
 * `default.inlineImageUrls`: fetches images that a request names by URL and puts them into it as base64, for providers that fetch none. An image
 * that cannot be fetched stays as it is and is an error of the check. If an image is at an address that the gateway may not call, the check
 * cannot run: a provider in the same network might fetch it.
 */
export const inlineImageUrls: Check = defineCheck({
  id: 'default.inlineImageUrls',
  sides: ['input'],
  changes: true,
  readsNoText: true,
  parameters,
  prepare: (given, services) => async (subject) => {
    const asked = await askedProviders(subject, services);
    const provider = asked.length === 1 ? (asked[0] as string) : null;
    const names = [...asked, ...subject.ctx.plan.targets.map((target) => target.provider)];
    if (given.providers.length > 0 && !names.some((name) => name !== null && given.providers.includes(name))) {
      return { verdict: true, data: { imagesConverted: 0, errors: [], provider } };
    }
    return convert(given, services, subject, provider);
  },
});

async function convert(given: Parameters, services: CheckServices, { body }: Subject, provider: string | null): Promise<Outcome> {
  const urls = new Set<string>();
  mapImages(body, (url) => {
    urls.add(url);
    return null;
  });
  const errors: string[] = [];
  let blocked = 0;
  const images = new Map<string, Image>();
  await Promise.all(
    [...urls].map(async (url, index) => {
      try {
        if (index >= imagesMax) throw new CallError('Error', `more than ${imagesMax} images`);
        images.set(url, await fetchImage(services, url, given));
      } catch (thrown) {
        if (isBlocked(thrown)) blocked++;
        else errors.push(thrown instanceof CallError ? thrown.message : 'fetch failed');
      }
    }),
  );
  if (blocked > 0) throw new BlockedAddress(`${counted(blocked, 'image')} at addresses that may not be called`);
  const data = { imagesConverted: images.size, errors, provider };
  const error =
    errors.length === 0
      ? {}
      : { error: { name: 'ImageError', message: `${counted(errors.length, 'image')} could not be converted` } };
  const changed = images.size === 0 ? {} : { body: mapImages(body, (url) => images.get(url) ?? null) as JsonObject };
  return { verdict: errors.length === 0, data, ...error, ...changed };
}

interface Image {
  readonly type: string;
  readonly base64: string;
}

async function fetchImage({ fetch }: CheckServices, url: string, { timeoutMs, maxSizeBytes }: Parameters): Promise<Image> {
  const late = () => new CallError('TimeoutError', `Request timed out after ${timeoutMs}ms`);
  const { status, headers, body } = await within(fetch({ url, headers: ['accept', 'image/*'] }), timeoutMs, late);
  if (status !== 200) throw new CallError('HttpError', `HTTP error! status: ${status}`);
  const type = (findHeader(headers, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (!types.test(type)) throw new CallError('Error', 'the reply is not an image');
  if (body.length > Math.min(maxSizeBytes, bytesMax)) throw new CallError('Error', 'the image is too large');
  return { type, base64: Buffer.from(body).toString('base64') };
}

/** Returns a copy of the body with the images that `replace` returns: parts of chat, messages and responses requests. */
function mapImages(value: unknown, replace: (url: string) => Image | null): unknown {
  if (Array.isArray(value)) return value.map((item) => mapImages(item, replace));
  if (!isObject(value)) return value;
  const { type, image_url: image, source } = value;
  if (type === 'image_url' && isObject(image) && isRemote(image.url)) {
    const found = replace(image.url);
    return found ? { ...value, image_url: { ...image, url: dataUrl(found), mime_type: found.type } } : value;
  }
  if (type === 'input_image' && isRemote(image)) {
    const found = replace(image);
    return found ? { ...value, image_url: dataUrl(found) } : value;
  }
  if (type === 'image' && isObject(source) && source.type === 'url' && isRemote(source.url)) {
    const found = replace(source.url);
    return found ? { ...value, source: { type: 'base64', media_type: found.type, data: found.base64 } } : value;
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapImages(item, replace)]));
}

function isRemote(url: unknown): url is string {
  return typeof url === 'string' && /^https?:\/\//i.test(url);
}

function dataUrl({ type, base64 }: Image): string {
  return `data:${type};base64,${base64}`;
}
