import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreServices } from '../../core/contract/plugin/core-plugin.ts';
import type { TokenAsk, VerifiedToken } from '../../core/contract/protocol/credentials/tokens.ts';
import { Secret } from '../../core/contract/values/credentials/secret.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import { requireScope } from './access.ts';
import type { FailureLimit } from './failure-limit.ts';

/** Admits callers by JWTs that their organisation has signed. Refusals are noted for its audit trail. */
export function createTokenGate(
  services: CoreServices,
  failures: FailureLimit,
): (ctx: RequestContext, token: string) => Maybe<undefined> {
  return (ctx, token) => {
    const ask: TokenAsk = {
      token,
      workspace: ctx.gatewayHeaders.get('workspace') || null,
      clientAddress: ctx.request.remoteAddress,
      isHeldBack: failures.isOver(ctx.request.remoteAddress),
    };
    try {
      if (!services.tokens) throw new GatewayError('invalid_api_key');
      const verified = services.tokens.verify(ask);
      if (!isPromise(verified)) return admit(ctx, token, verified);
      return verified.then((later) => admit(ctx, token, later)).catch((thrown: unknown) => refuse(ctx, ask, thrown));
    } catch (thrown) {
      return refuse(ctx, ask, thrown);
    }
  };

  function admit(ctx: RequestContext, token: string, { identity }: VerifiedToken): undefined {
    ctx.token = new Secret(token);
    ctx.identity = identity;
    requireScope(ctx);
  }

  function refuse(ctx: RequestContext, ask: TokenAsk, thrown: unknown): never {
    if (thrown instanceof GatewayError) {
      if (ctx.identity === null && (thrown.status === 401 || thrown.status === 403)) failures.count(ask.clientAddress);
      const { method, path } = ctx.request;
      services.tokens?.noteRefusal(ask, thrown, { method, path, requestId: ctx.id });
    }
    throw thrown;
  }
}
