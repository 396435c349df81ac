import type { GatewayError } from '../values/errors/errors.ts';
import type { requestHeaderTexts } from './route-descriptions.ts';

/** Prefix of the gateway's headers in errors, and in requests of clients that use no other one. */
export const defaultPrefix = 'x-svc-';

/** Returns the name of a request header for errors. The reply shows it with the prefix of the client. */
export function headerParam(name: keyof typeof requestHeaderTexts): string {
  return defaultPrefix + name;
}

/** Returns an error about a request with the client's prefix in the names of headers. */
export function withClientPrefix(error: GatewayError, prefix: string): GatewayError {
  if (error.source !== 'client' || prefix === defaultPrefix) return error;
  const rename = (text: string): string => text.replaceAll(defaultPrefix, prefix);
  return error.renamed(rename(error.message), error.param === null ? null : rename(error.param));
}
