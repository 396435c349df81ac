import { type FormPart, partText } from '../../values/bodies/form.ts';
import { isMultipartForm } from '../../values/http/media-types.ts';
import { percentDecoded } from '../../values/text/percent-decoded.ts';
import type { RequestContext } from '../context.ts';

/** True for a request that stores a file at a provider: `POST /files`, also below `/proxy`, where Together AI's path is `/files/upload`. */
export function isUpload({ endpoint, request }: Pick<RequestContext, 'endpoint' | 'request'>): boolean {
  if (endpoint?.operation === 'uploadFile') return true;
  if (endpoint?.name !== 'proxy' || request.method !== 'POST' || !storesFile.test(percentDecoded(endpoint.proxyPath)))
    return false;
  return isMultipartForm(request.header('content-type') ?? '');
}

const storesFile = /\/files(?:\/+upload)?\/*$/;

/** True for the form of a file whose lines are read when a batch of them is created. No provider could find another purpose in it. */
export function uploadsBatch(form: readonly FormPart[]): boolean {
  const purposes = form.filter(({ name }) => /^\W*purpose(?:\W|$)/i.test(name));
  return (
    purposes.some(({ name }) => name === 'purpose') &&
    purposes.every((part) => part.filename === null && partText(part) === 'batch')
  );
}
