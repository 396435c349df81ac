import { type WebhookDeliveryReply, webhookDelivery } from '../contract/protocol/control-plane-calls/webhook-delivery.ts';
import type { TokenFetch } from '../contract/provider/sign-services.ts';
import { toGatewayError } from '../contract/values/errors/errors.ts';
import type { InboundRequest, ReplySink } from '../contract/values/http/http.ts';
import { failureText } from './diagnose.ts';
import { replyToControlPlane } from './serve-control-plane.ts';

const atOnceMax = 16;
/** Maximum for one organisation, whose receivers may respond slowly. */
const ofOneMax = 4;

/** Sends webhooks of the control plane. `calls` checks addresses, limits time and size, and follows no redirects. */
export function createWebhookDeliveries(
  calls: Pick<TokenFetch, 'fetch'>,
  clusterKey: string,
): (request: InboundRequest, sink: ReplySink) => void {
  return replyToControlPlane({
    clusterKey,
    question: webhookDelivery,
    atOnceMax,
    owner: { of: ({ organisationId }) => organisationId, max: ofOneMax },
    async reply({ organisationId, url, headers, body }): Promise<WebhookDeliveryReply> {
      const tenant = `svc-webhooks/${organisationId}`;
      try {
        const response = await calls.fetch({ tenant, url, method: 'POST', headers: Object.entries(headers).flat(), body });
        return { status: response.status, error: null };
      } catch (thrown) {
        const error = toGatewayError(thrown);
        return { status: null, error: failureText(error).slice(0, 300) };
      }
    },
  });
}
