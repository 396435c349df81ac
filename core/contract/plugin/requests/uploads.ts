import { type FormPart, partText } from '../../values/bodies/form.ts';
import { isJsonType } from '../../values/http/media-types.ts';
import { percentDecoded } from '../../values/text/percent-decoded.ts';
import type { RequestContext } from '../context.ts';
import { managesOnly } from './passed-traffic.ts';

type Upload = Pick<RequestContext, 'endpoint' | 'request'>;

/**
 * True for a request that stores a file at a provider: `POST /files`, and pass-through requests that manage resources with a body that is no JSON, or
 * with JSON in place of a file.
 */
export function isUpload(ctx: Upload): boolean {
  const { endpoint, request } = ctx;
  if (endpoint?.operation === 'uploadFile' || isPartial(ctx)) return true;
  if (endpoint?.name !== 'proxy' || endpoint.traffic !== 'free' || request.body.length === 0) return false;
  if (!managesOnly(endpoint.proxyPath)) return false;
  return !isJsonType(request.header('content-type') ?? '') || filePath.test(endpoint.proxyPath);
}

/** True for a request of an upload that no single request contains: in parts, resumable, or to an address that the provider returns. */
export function isPartial({ endpoint, request }: Upload): boolean {
  if (endpoint?.name !== 'proxy' || request.body.length === 0) return false;
  return partial.test(percentDecoded(endpoint.proxyPath).replaceAll(pathParam, ''));
}

/** `/uploads` of OpenAI, `/upload/…` of Google and `:getUploadEndpoint` of Fireworks AI. */
const partial = /\/uploads(?:\/|$)|\/upload\/+[^/]|:getUploadEndpoint\/*$/i;
const pathParam = /;[^/]*/g;

/** Paths where a file is stored, also one that the provider reads from an address. Vector stores and containers take the ids of files. */
const filePath = /(?<!\/(?:vector_stores|containers)\/[^/]+)\/files(?:\/+(?:upload|import)|:\w+)?\/*$/;

/**
 * True for the form of a file whose lines are read when a batch of them is created. No provider could find another purpose in it. False for files that
 * pass through, because their provider may have no purposes.
 */
export function uploadsBatch(endpoint: Upload['endpoint'], form: readonly FormPart[]): boolean {
  if (endpoint?.operation !== 'uploadFile') return false;
  const purposes = form.filter(({ name }) => /^\W*purpose(?:\W|$)/i.test(name));
  return (
    purposes.some(({ name }) => name === 'purpose') &&
    purposes.every((part) => part.filename === null && partText(part) === 'batch')
  );
}
