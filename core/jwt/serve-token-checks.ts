import { hash } from 'node:crypto';
import * as v from 'valibot';
import { isFromControlPlane } from '../contract/protocol/credentials/cluster-key.ts';
import { keyPurposes } from '../contract/protocol/credentials/key-purposes.ts';
import {
  type TokenVerdict,
  type TokenVerifier,
  tokenCheck,
  tokenVerdictContext,
} from '../contract/protocol/credentials/tokens.ts';
import { deriveKey, seal } from '../contract/values/credentials/secret.ts';
import { toGatewayError } from '../contract/values/errors/errors.ts';
import type { InboundRequest, ReplySink } from '../contract/values/http/http.ts';

const requestBytesMax = 64 * 1024;

/**
 * Serves `tokenCheckPath`: returns the identity of a token to the control plane, sealed so that only a gateway can have produced
 * it.
 */
export function createTokenChecks(options: {
  readonly tokens: TokenVerifier;
  readonly clusterKey: Uint8Array;
  readonly clusterKeyText: string;
}): (request: InboundRequest, sink: ReplySink) => void {
  const transportKey = deriveKey(options.clusterKey, keyPurposes.transport);
  return (request, sink) => {
    const reply = (status: number, body: object) =>
      sink.send(status, ['content-type', 'application/json', 'cache-control', 'no-store'], JSON.stringify(body));
    if (!isFromControlPlane(request, options.clusterKeyText)) return reply(404, { error: 'not found' });
    read(request)
      .then(async (check) => {
        if (check === null) return reply(400, { error: 'malformed' });
        const context = tokenVerdictContext(hash('sha256', check.token, 'hex'), check.requestId);
        reply(200, { sealed: seal(transportKey, JSON.stringify(await verdictOf(check)), context) });
      })
      .catch(() => reply(500, { error: 'internal' }));
  };

  async function verdictOf({ method, path, requestId, ...ask }: v.InferOutput<typeof tokenCheck>): Promise<TokenVerdict> {
    try {
      const { identity, scopes } = await options.tokens.verify(ask);
      const { keyId, organisationId, workspaceId, userId, tokenSubject: subject = null } = identity;
      return { keyId, organisationId, workspaceId, userId, subject, scopes: [...scopes] };
    } catch (thrown) {
      const error = toGatewayError(thrown);
      options.tokens.noteRefusal(ask, error, { method, path, requestId });
      return { refused: { status: error.status, message: error.message, retryAfterMs: error.retryAfterMs } };
    }
  }
}

async function read(request: InboundRequest): Promise<v.InferOutput<typeof tokenCheck> | null> {
  try {
    const bytes = await request.body.bytes(requestBytesMax);
    return v.parse(tokenCheck, JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    return null;
  }
}
