import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Caller } from '../../contract/provider/provider.ts';
import { holdsCredential } from '../../contract/values/api-key.ts';

/** The gateway's own key is never sent, not even to the control plane. */
const notStored: ReadonlySet<string> = new Set(['api-key', 'file-purpose']);

/** Returns the caller as the service's own store needs it; null before the caller is known. */
export function callerOf(ctx: RequestContext): Caller | null {
  const { identity } = ctx;
  if (!identity) return null;
  return {
    organisationId: identity.organisationId,
    workspaceId: identity.workspaceId,
    keyId: identity.keyId,
    userId: identity.userId,
    headers: () => headersOf(ctx),
  };
}

function headersOf(ctx: RequestContext): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of ctx.gatewayHeaders)
    if (!notStored.has(name) && !holdsCredential(value, ctx.token)) headers[name] = value;
  for (const name of ['authorization', 'x-api-key', 'api-key']) {
    const value = ctx.request.header(name);
    if (value === undefined || name === ctx.keyHeader || holdsCredential(value, ctx.token)) continue;
    headers.authorization = name === 'authorization' ? value : `Bearer ${value}`;
    break;
  }
  return headers;
}
