import * as v from 'valibot';
import type { ClientSecrets, SecretSession } from '../contract/plugin/sessions/web-socket.ts';
import { clientSecretPrefix } from '../contract/values/credentials/api-key.ts';
import { seal, unseal } from '../contract/values/credentials/secret.ts';
import { findHeader, type HeaderList, type InboundRequest } from '../contract/values/http/http.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { passedProtocols } from '../pipeline/attempt/socket-protocols.ts';

const secretSession = v.object({
  headers: v.array(v.string()),
  query: v.string(),
  firstMessage: v.nullable(v.string()),
  expiresAtMs: v.number(),
});

const use = 'client-secret';

/** `key`: derived from CLUSTER_KEY, so that every gateway of an installation opens the secrets of the others. */
export function createClientSecrets(key: Uint8Array, clock: Pick<Clock, 'now'>): ClientSecrets {
  return {
    seal: (session) => clientSecretPrefix + seal(key, JSON.stringify(session), use),
    open(handshake) {
      const secret = secretIn(handshake.headers);
      const session = secret === null ? null : opened(key, secret);
      if (session === null || session.expiresAtMs <= clock.now()) return null;
      const { firstMessage } = session;
      return {
        request: requestOf(handshake, session),
        firstMessage: firstMessage === null ? null : Buffer.from(firstMessage),
      };
    },
  };
}

/** Returns the text after the prefix of the first client secret in a header. */
function secretIn(headers: HeaderList): string | null {
  for (let i = 1; i < headers.length; i += 2) {
    const value = (headers[i] as string).replace(/^bearer\s+/i, '').trim();
    if (value.startsWith(clientSecretPrefix)) return value.slice(clientSecretPrefix.length);
  }
  return null;
}

function opened(key: Uint8Array, sealed: string): SecretSession | null {
  try {
    return v.parse(secretSession, JSON.parse(unseal(key, sealed, use).toString()));
  } catch {
    return null;
  }
}

/**
 * The holder of a client secret is not its creator, so nothing of the handshake but the address of the client and its name has a meaning:
 * no header could choose a config or an account, and no parameter another model or call.
 */
function requestOf(handshake: InboundRequest, session: SecretSession): InboundRequest {
  const { method, path, remoteAddress, country = null, body } = handshake;
  const agent = handshake.header('user-agent');
  const headers = [...session.headers, ...(agent === undefined ? [] : ['user-agent', agent])];
  return {
    ...{ method, path, remoteAddress, country, body, headers },
    query: session.query,
    webSocketProtocols: passedProtocols(handshake.webSocketProtocols ?? [], true),
    header: (name) => findHeader(headers, name),
    ownAddress: () => handshake.ownAddress?.() ?? '',
  };
}
