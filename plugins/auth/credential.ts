import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { isToken } from '../../core/contract/protocol/credentials/tokens.ts';
import type { InboundRequest } from '../../core/contract/values/http/http.ts';

/**
 * Returns the API key of a request, or the JWT used instead of one: `x-svc-api-key`, otherwise `Authorization: Bearer` (so that
 * OpenAI clients need only another base URL), otherwise `x-api-key` (Anthropic clients). `x-goog-api-key` (Google clients) and `api-key`
 * (Azure clients) count if their value is one of the gateway's and the others are not. Records the header that carried it, so that it is
 * never sent upstream.
 */
export function findCredential(ctx: RequestContext): string | null {
  const bearer = bearerOf(ctx.request.header('authorization'));
  const own = ctx.gatewayHeaders.get('api-key');
  if (own !== undefined) {
    // A copy of the key in another header is the gateway's own too.
    if (bearer === own) ctx.keyHeader = 'authorization';
    return own;
  }
  const anthropic = ctx.request.header('x-api-key');
  if (ownness(bearer ?? '') === 0 && ownness(anthropic ?? '') === 0) {
    for (const name of cloudHeaders) {
      const key = ctx.request.header(name);
      if (key === undefined || ownness(key) === 0) continue;
      ctx.keyHeader = name;
      return key;
    }
  }
  if (bearer !== null && (anthropic === undefined || ownness(bearer) >= ownness(anthropic))) {
    ctx.keyHeader = 'authorization';
    return bearer;
  }
  if (anthropic !== undefined) {
    ctx.keyHeader = 'x-api-key';
    return anthropic;
  }
  // None of these is a key of the gateway. The error then is about this key instead of a missing one.
  return cloudHeaders.map((name) => ctx.request.header(name)).find((key) => key) ?? keyInHandshake(ctx.request);
}

/** Returns the key in the address of a WebSocket handshake, which is not one of the gateway: those are headers by now. */
function keyInHandshake({ webSocketProtocols, query }: InboundRequest): string | null {
  if ((webSocketProtocols ?? null) === null) return null;
  const params = new URLSearchParams(query);
  return params.get('key') || params.get('api-key');
}

/** Headers in which the SDKs of Google and Azure send a key. */
const cloudHeaders = ['x-goog-api-key', 'api-key'] as const;

/**
 * Rates how much a credential looks like one of the gateway's own. The highest rating is used, because providers issue tokens
 * too, but no keys of the gateway.
 */
function ownness(credential: string): number {
  if (credential.startsWith('svc_')) return 2;
  return isToken(credential) ? 1 : 0;
}

/** Returns the token of `Bearer <token>`, else null. */
function bearerOf(header: string | undefined): string | null {
  if (header === undefined || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') return null;
  return header.slice(7).trim();
}
