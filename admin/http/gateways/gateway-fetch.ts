import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import {
  type OutboundRequest,
  outboundCallMs,
  outboundCallPath,
  outboundCallReply,
  outboundContext,
  outboundResponse,
} from '../../../core/contract/protocol/control-plane-calls/outbound-call.ts';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import { deriveKey, seal, unseal } from '../../../core/contract/values/credentials/secret.ts';
import type { AdminServices } from '../admin-services.ts';
import { askGateway } from './ask-gateway.ts';

/** The host did not respond, or may not be called. The message states the reason. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
}

/**
 * Returns a `fetch` whose requests a gateway sends, with the gateway's rules for addresses. It follows no redirects, and responses have
 * at most 1 MiB. Rejects with OutboundError, or with AdminError AB10 if no gateway can be reached.
 */
export function createGatewayFetch(
  services: Pick<AdminServices, 'settings' | 'log'>,
  organisationId: string,
): (url: string, request: Omit<OutboundRequest, 'url'>) => Promise<Response> {
  return async (url, request) => {
    const key = deriveKey(services.settings.clusterKey, keyPurposes.transport);
    const callId = randomUUID();
    const { sealed, error } = await askGateway(services, {
      path: outboundCallPath,
      body: {
        organisationId,
        callId,
        sealed: seal(key, JSON.stringify({ ...request, url }), outboundContext(callId, 'request')),
      },
      reply: outboundCallReply,
      timeoutMs: outboundCallMs,
      what: `call ${URL.parse(url)?.host ?? 'this host'}`,
    });
    if (sealed === null) throw new OutboundError(error ?? 'no response');
    const opened = unseal(key, sealed, outboundContext(callId, 'response')).toString('utf8');
    const { status, headers, body } = v.parse(outboundResponse, JSON.parse(opened));
    const bytes = Buffer.from(body, 'base64');
    // The constructor leaves it empty, and errors of protocol libraries name only the response.
    return Object.defineProperty(new Response(bodiless.has(status) ? null : bytes, { status, headers }), 'url', { value: url });
  };
}

/** Statuses with which `Response` accepts no body. */
const bodiless: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);
