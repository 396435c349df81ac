import * as v from 'valibot';
import {
  type OutboundCallReply,
  type OutboundResponse,
  outboundCall,
  outboundContext,
  outboundRequest,
} from '../contract/protocol/control-plane-calls/outbound-call.ts';
import { keyPurposes } from '../contract/protocol/credentials/key-purposes.ts';
import type { TokenFetch } from '../contract/provider/sign-services.ts';
import { deriveKey, seal, unseal } from '../contract/values/credentials/secret.ts';
import { toGatewayError } from '../contract/values/errors/errors.ts';
import type { HeaderList, InboundRequest, ReplySink } from '../contract/values/http/http.ts';
import { failureText } from './diagnose.ts';
import { replyToControlPlane } from './serve-control-plane.ts';

const atOnceMax = 32;
/** Maximum for one organisation, whose identity provider may respond slowly. */
const ofOneMax = 8;

export interface OutboundCallOptions {
  readonly clusterKey: Uint8Array;
  readonly clusterKeyText: string;
  /** Checks addresses, limits time and size, and follows no redirects. */
  readonly calls: Pick<TokenFetch, 'fetch'>;
}

/** Sends HTTP requests of the control plane, such as those to identity providers. */
export function createOutboundCalls(options: OutboundCallOptions): (request: InboundRequest, sink: ReplySink) => void {
  const key = deriveKey(options.clusterKey, keyPurposes.transport);
  return replyToControlPlane({
    clusterKey: options.clusterKeyText,
    question: outboundCall,
    atOnceMax,
    owner: { of: ({ organisationId }) => organisationId, max: ofOneMax },
    async reply({ organisationId, callId, sealed }): Promise<OutboundCallReply> {
      const opened = unseal(key, sealed, outboundContext(callId, 'request')).toString('utf8');
      const { url, method, headers, body } = v.parse(outboundRequest, JSON.parse(opened));
      const tenant = `svc-outbound/${organisationId}`;
      try {
        const sent = { tenant, url, method, headers: Object.entries(headers).flat(), body };
        const { status, headers: received, body: bytes } = await options.calls.fetch(sent);
        const response: OutboundResponse = {
          status,
          headers: recordOf(received),
          body: Buffer.from(bytes).toString('base64'),
        };
        return { sealed: seal(key, JSON.stringify(response), outboundContext(callId, 'response')), error: null };
      } catch (thrown) {
        const error = toGatewayError(thrown);
        return { sealed: null, error: failureText(error).slice(0, 300) };
      }
    },
  });
}

function recordOf(list: HeaderList): Record<string, string> {
  const record: Record<string, string> = {};
  for (let i = 0; i < list.length; i += 2) record[(list[i] as string).toLowerCase()] = list[i + 1] as string;
  return record;
}
