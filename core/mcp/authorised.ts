import type { Identity } from '../contract/plugin/context.ts';
import type { Maybe } from '../contract/values/json.ts';
import { admit } from './admit.ts';
import type { Work } from './exchange.ts';
import type { ServerSettings } from './server-settings.ts';
import { isOrder } from './transports.ts';
import { needsToken } from './upstream-tokens.ts';

/** Returns the settings with one transport, if the integration names two. */
async function settled({ parts, call }: Pick<Work, 'parts' | 'call'>, server: ServerSettings): Promise<ServerSettings> {
  if (!isOrder(server.document.transport)) return server;
  const found = await parts.transports.settle(server);
  call.transport = found.document.transport;
  return found;
}

/**
 * Returns the work with the caller's token for the server, in place of one that the server has rejected. `scope`: the scopes that the token
 * lacks; null: it is not valid.
 */
export function authorised(work: Work, scope: string | null = null): Maybe<Work> {
  const { document } = work.server;
  return needsToken(document) || isOrder(document.transport) ? withToken(work, scope) : work;
}

async function withToken(work: Work, scope: string | null): Promise<Work> {
  const { parts, ctx, call, tokenId: id } = work;
  const rejected = id === null ? null : { id, scope };
  const { server, tokenId } = await parts.tokens.authorise(work.server, ctx.identity as Identity, call.id, rejected);
  return { ...work, server: await settled(work, server), tokenId };
}

/** Returns the work with other credentials, in place of those that the server has rejected; null if there are none. */
export async function renewed(work: Work, scope: string | null = null): Promise<Work | null> {
  const { parts, ctx, tokenId } = work;
  const { secrets } = work.server;
  if (tokenId === null && (secrets === null || !(await parts.mappedHeaders.renew(secrets)))) return null;
  const again =
    tokenId === null && secrets !== null
      ? await authorised({ ...work, server: await admit(parts, ctx, secrets.document) })
      : await authorised(work, scope);
  work.call.isCredentialRenewed = true;
  return again;
}
