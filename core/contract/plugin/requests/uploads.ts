import { type FormPart, partText } from '../../values/bodies/form.ts';
import { isMultipartForm } from '../../values/http/media-types.ts';
import type { RequestContext } from '../context.ts';

/** True for a request that stores a file at a provider: `POST /files`, also below `/proxy`. */
export function isUpload({ endpoint, request }: Pick<RequestContext, 'endpoint' | 'request'>): boolean {
  if (endpoint?.operation === 'uploadFile') return true;
  if (endpoint?.name !== 'proxy' || request.method !== 'POST' || !/\/files\/?$/.test(endpoint.proxyPath)) return false;
  return isMultipartForm(request.header('content-type') ?? '');
}

/** True for the form of a file whose lines are read when a batch of them is created. */
export function uploadsBatch(form: readonly FormPart[]): boolean {
  const purposes = form.filter(({ name, filename }) => name === 'purpose' && filename === null);
  return purposes.length > 0 && purposes.every((part) => partText(part) === 'batch');
}
