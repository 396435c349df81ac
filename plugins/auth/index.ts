import * as v from 'valibot';
import { type CoreHooks, type CorePlugin, type CoreServices, defineCorePlugin } from '../../core/contract/plugin/core-plugin.ts';
import { isJobCredential } from '../../core/contract/protocol/credentials/job-credential.ts';
import { isOAuthToken } from '../../core/contract/protocol/credentials/oauth-token.ts';
import { isToken } from '../../core/contract/protocol/credentials/tokens.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import type { Maybe } from '../../core/contract/values/maybe.ts';
import { findCredential } from './credential.ts';
import { FailureLimit } from './failure-limit.ts';
import { type ApiKeySecrets, createKeyGate } from './key-gate.ts';
import { createOAuthGate } from './oauth-gate.ts';
import { createTokenGate } from './token-gate.ts';

/** Keys that verify callers. Only this plugin gets them. */
export interface AuthKeys extends ApiKeySecrets {
  /** Proves access tokens of OAuth clients; absent: none is accepted. */
  readonly oauthTokenKey?: Uint8Array;
}

/** Identifies the caller: finds the API key, checks it against its document, and refuses keys that may not use the route. */
export const auth = (keys: AuthKeys): CorePlugin =>
  defineCorePlugin({
    name: 'auth',
    stage: 'auth',
    config: v.optional(v.strictObject({})),
    onConfig: (_config, _scope, services: CoreServices) => createHooks(services, keys),
  });

function createHooks(services: CoreServices, keys: AuthKeys): CoreHooks {
  const failures = new FailureLimit(services.clock);
  const { admitKey, admitJob } = createKeyGate(services, keys, failures);
  const admitToken = createTokenGate(services, failures);
  const oauth = createOAuthGate(services, failures, keys.oauthTokenKey);

  return {
    onRequest(ctx) {
      const credential = findCredential(ctx);
      if (credential === null) {
        const sent = ctx.request.header('authorization') === undefined ? 'no key was sent' : 'authorization is not Bearer <key>';
        const message = `Invalid API Key: ${sent}; send one in x-svc-api-key or in Authorization: Bearer`;
        throw new GatewayError('invalid_api_key', { message });
      }
      if (isToken(credential)) return admitToken(ctx, credential);
      if (isJobCredential(credential)) return admitJob(ctx, credential);
      if (isOAuthToken(credential)) return oauth.admit(ctx, credential);
      return admitKey(ctx, credential);
    },

    onSessionLook(ctx) {
      const credential = findCredential(ctx);
      // A JWT limits the time in which a session may begin. A session that began in time may continue up to its own maximum.
      if (credential === null || isToken(credential) || isJobCredential(credential)) return null;
      if (isOAuthToken(credential)) return refusalOf(() => oauth.look(ctx, credential));
      return refusalOf(() => admitKey(ctx, credential));
    },
  };
}

/** Returns the error if the key is known to be no longer valid, otherwise null. An unknown state does not end a session. */
async function refusalOf(admitAgain: () => Maybe<undefined>): Promise<GatewayError | null> {
  try {
    await admitAgain();
    return null;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return thrown.status === 401 || thrown.status === 403 ? thrown : null;
  }
}
