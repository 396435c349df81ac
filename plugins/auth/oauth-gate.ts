import type { Identity, RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreServices } from '../../core/contract/plugin/core-plugin.ts';
import { type OAuthGrantDocument, readOAuthToken } from '../../core/contract/protocol/credentials/oauth-token.ts';
import { Secret } from '../../core/contract/values/credentials/secret.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import { requireScope } from './access.ts';
import type { FailureLimit } from './failure-limit.ts';

interface OAuthGate {
  /** Admits a request. */
  admit(ctx: RequestContext, token: string): Maybe<undefined>;
  /** Checks the grant of an open stream again. A token limits only the time in which a stream may begin. */
  look(ctx: RequestContext, token: string): Maybe<undefined>;
}

/** Admits OAuth clients of MCP servers by access tokens of the control plane. The document of the grant decides. */
export function createOAuthGate(services: CoreServices, failures: FailureLimit, key: Uint8Array | undefined): OAuthGate {
  const identities = new WeakMap<OAuthGrantDocument, Identity>();
  return {
    admit(ctx, token) {
      const read = readToken(ctx, token);
      if (read.value * 1_000 <= services.clock.now()) {
        throw new GatewayError('api_key_expired', { message: 'The access token has expired' });
      }
      return admitGrant(ctx, token, read.grantId);
    },
    look: (ctx, token) => admitGrant(ctx, token, readToken(ctx, token).grantId),
  };

  function readToken(ctx: RequestContext, token: string) {
    const read = key === undefined ? null : readOAuthToken(key, 'oauth', token);
    if (read === null) throw refused(ctx, 'the access token is not valid');
    return read;
  }

  function admitGrant(ctx: RequestContext, token: string, grantId: string): Maybe<undefined> {
    const grant = services.documents.get('oauth-grant', grantId);
    return isPromise(grant) ? grant.then((found) => admit(ctx, token, found)) : admit(ctx, token, grant);
  }

  function admit(ctx: RequestContext, token: string, grant: OAuthGrantDocument | null): undefined {
    if (grant === null) throw refused(ctx, 'the access was revoked');
    if (ctx.endpoint?.name !== 'mcp') {
      throw new GatewayError('forbidden', { message: 'Forbidden! This access token is for an MCP server only' });
    }
    ctx.token = new Secret(token);
    ctx.identity = identityOf(grant);
    requireScope(ctx);
  }

  function identityOf(grant: OAuthGrantDocument): Identity {
    let identity = identities.get(grant);
    if (!identity) {
      const { id: keyId, organisationId, workspaceId, userId, userName, serverId } = grant;
      identity = {
        ...{
          keyId,
          organisationId,
          workspaceId,
          userId,
          userName,
          mcpServerId: serverId,
          scopes: new Set(grant.scopes),
          limits: null,
        },
        defaults: { configSlug: null, metadata: {}, allowConfigOverride: false },
      };
      identities.set(grant, identity);
    }
    return identity;
  }

  function refused(ctx: RequestContext, reason: string): GatewayError {
    failures.count(ctx.request.remoteAddress);
    return new GatewayError('invalid_api_key', { message: `Invalid API Key: ${reason}` });
  }
}
