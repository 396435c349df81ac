import type { RequestContext } from '../../core/contract/context.ts';

/**
 * The service key of a request: `x-svc-api-key`, else `Authorization: Bearer` (so that OpenAI clients need only another base
 * URL), else `x-api-key` (Anthropic clients). Notes which header carried it, so that it never goes upstream.
 */
export function findCredential(ctx: RequestContext): string | null {
  const bearer = bearerOf(ctx.request.header('authorization'));
  const own = ctx.gatewayHeaders.get('api-key');
  if (own !== undefined) {
    // The same key twice: the copy is ours too.
    if (bearer === own) ctx.keyHeader = 'authorization';
    return own;
  }
  const anthropic = ctx.request.header('x-api-key');
  if (bearer !== null && !(anthropic?.startsWith('svc_') && !bearer.startsWith('svc_'))) {
    ctx.keyHeader = 'authorization';
    return bearer;
  }
  if (anthropic !== undefined) {
    ctx.keyHeader = 'x-api-key';
    return anthropic;
  }
  return null;
}

/** The token of `Bearer <token>`, else null. */
export function bearerOf(header: string | undefined): string | null {
  if (header === undefined || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') return null;
  return header.slice(7).trim();
}
