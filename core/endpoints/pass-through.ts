import type { Endpoint } from '../contract/plugin/requests/endpoint.ts';
import { isGeminiPath } from '../contract/plugin/requests/gemini-paths.ts';
import { passedTraffic } from '../contract/plugin/requests/passed-traffic.ts';

/** Methods that pass through. */
export const proxyMethods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const methods: ReadonlySet<string> = new Set(proxyMethods);
const scopes = ['completions.write'];
/** Calls whose replies are message batches: create, list, retrieve and cancel. */
const messageBatches = /^\/messages\/batches(?:\/[^/]+(?:\/cancel)?)?\/?$/;

/** True for `/proxy/…`, which asks for pass-through by its name. */
export function isExplicitProxy(pathBelowV1: string): boolean {
  return pathBelowV1.startsWith('/proxy/');
}

/** Paths of parts of a file, a batch or a fine-tuning job, such as the events of a job. */
const ofStored = /^\/(?:files|batches|fine_tuning)\//;

/**
 * Pass-through for everything below `/v1` that is not a route of the service: method, path, query and bytes are sent to the
 * provider unchanged. Replies about message batches name the gateway as the address of the results. `/v1/proxy/…` forces it also for
 * paths that would be shaped. Null for methods that cannot pass.
 */
export function proxyEndpoint(method: string, pathBelowV1: string): Endpoint | null {
  if (!methods.has(method)) return null;
  const isExplicit = isExplicitProxy(pathBelowV1);
  const path = isExplicit ? pathBelowV1.slice('/proxy'.length) : pathBelowV1;
  // Clients that put `/v1` in their own paths too would otherwise reach `/v1/v1/…`.
  const proxyPath = path.startsWith('/v1/') ? path.slice('/v1'.length) : path;
  const traffic = passedTraffic(method, proxyPath);
  const given: Endpoint = { name: 'proxy', operation: null, scopes, format: 'plain', proxyPath, traffic };
  const endpoint: Endpoint = isGeminiPath(proxyPath) ? { ...given, errorForm: 'gemini' } : given;
  if (isExplicit) return endpoint;
  if (ofStored.test(proxyPath)) return { ...endpoint, isOfStored: true };
  return messageBatches.test(proxyPath) ? { ...endpoint, namesResults: true } : endpoint;
}
