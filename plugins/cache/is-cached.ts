import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { isDebugOff } from '../../core/contract/plugin/record/is-debug-off.ts';
import type { OperationName } from '../../core/contract/provider/provider.ts';

/** Returns true for requests that may be served from the cache: not with an effective `x-svc-debug: false`. */
export function isCached(ctx: RequestContext): boolean {
  const { endpoint, params } = ctx;
  if (!endpoint || isDebugOff(ctx, ctx.workspace)) return false;
  if (endpoint.operation === null) return isCachedProxy(ctx);
  // A conversation grows with each response, and a background response is not complete.
  if (params?.conversation || params?.background === true) return false;
  return cachedOperations.has(endpoint.operation);
}

/**
 * Operations whose reply depends on the body alone. Others read or change what a provider stores, or their audio and forms are large and
 * rarely repeated exactly.
 */
const cachedOperations: ReadonlySet<string> = new Set([
  'chatComplete',
  'complete',
  'countResponseInputTokens',
  'createDecision',
  'createModelResponse',
  'embed',
  'imageGenerate',
  'messages',
  'messagesCountTokens',
  'moderate',
  'ocr',
  'rerank',
] satisfies OperationName[]);

/** Returns true for pass-through requests that call a model with a body in memory, like the unified routes. */
function isCachedProxy({ endpoint, request, body }: RequestContext): boolean {
  if (request.method !== 'POST' || (endpoint?.traffic !== 'stated' && endpoint?.traffic !== 'unknown')) return false;
  if (request.webSocketProtocols || (body === null && request.body.length !== 0)) return false;
  return !uncachedPath.test(endpoint.proxyPath) && !/^multipart\//i.test(request.header('content-type') ?? '');
}

const uncachedPath = /\/audio\/|\/images\/(?:edits|variations)/;
