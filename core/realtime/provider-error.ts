import type { RequestContext } from '../contract/plugin/context.ts';
import type { CoreServices } from '../contract/plugin/core-plugin.ts';
import type { ProviderDocument } from '../contract/protocol/documents.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';

/**
 * Returns the error if the stored provider of a session was removed from the workspace or has expired; otherwise null. An unknown state,
 * such as an unreachable control plane, ends no session. The status closes the session with 1008.
 */
export async function providerError(
  ctx: RequestContext,
  { documents, clock }: Pick<CoreServices, 'documents' | 'clock'>,
): Promise<GatewayError | null> {
  const slug = ctx.providerSlug;
  if (slug === null) return null;
  let document: ProviderDocument | null;
  try {
    document = await documents.get('provider', `${ctx.identity?.workspaceId}/${slug}`);
  } catch {
    return null;
  }
  if (!document) return new GatewayError('forbidden', { message: `The provider @${slug} was removed` });
  const isExpired = document.expiresAt !== null && Date.parse(document.expiresAt) <= clock.now();
  return document.status === 'expired' || isExpired ? new GatewayError('provider_expired') : null;
}
