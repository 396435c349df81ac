import type { Identity } from '../../contract/plugin/context.ts';
import type { Maybe } from '../../contract/values/maybe.ts';
import { admit } from '../admit.ts';
import type { Work } from '../exchange.ts';
import type { ServerSettings } from '../server/server-settings.ts';
import { isOrder } from '../server/transports.ts';
import type { Rejection } from './token-rejection.ts';
import { needsToken } from './upstream-tokens.ts';

const ended: Rejection = { scope: null, isInvalid: true };

/** Returns the settings with one transport, if the integration names two. */
async function settled({ parts, call }: Pick<Work, 'parts' | 'call'>, server: ServerSettings): Promise<ServerSettings> {
  if (!isOrder(server.document.transport)) return server;
  const found = await parts.transports.settle(server);
  call.transport = found.document.transport;
  return found;
}

/** Returns the work with the caller's token for the server, in place of one that the server has rejected. */
export function authorised(work: Work, rejection: Rejection = ended): Maybe<Work> {
  const { document } = work.server;
  return needsToken(document) || isOrder(document.transport) ? withToken(work, rejection) : work;
}

async function withToken(work: Work, rejection: Rejection): Promise<Work> {
  const { parts, ctx, call, tokenId: id } = work;
  const rejected = id === null ? null : { id, ...rejection };
  const { server, tokenId } = await parts.tokens.authorise(work.server, ctx.identity as Identity, call.id, rejected);
  return { ...work, server: await settled(work, server), tokenId };
}

/** True if another credential may take the place of one that the server rejects. */
export function canRenew({ tokenId, server }: Pick<Work, 'tokenId' | 'server'>): boolean {
  return tokenId !== null || server.secrets !== null;
}

/** Returns the work with other credentials, in place of those that the server has rejected; null if there are none. */
export async function renewed(work: Work, rejection: Rejection = ended): Promise<Work | null> {
  const { parts, ctx, tokenId } = work;
  const { secrets } = work.server;
  if (tokenId === null && (secrets === null || !(await parts.mappedHeaders.renew(secrets)))) return null;
  const again =
    tokenId === null && secrets !== null
      ? await authorised({ ...work, server: await admit(parts, ctx, secrets.document) })
      : await authorised(work, rejection);
  work.call.isCredentialRenewed = true;
  return again;
}
