import { RequestContext } from '../contract/plugin/context.ts';
import type { OwnOperation, ProviderCall } from '../contract/plugin/services/provider-call.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { type JsonObject, parseObject } from '../contract/values/json/json.ts';
import { type InnerReply, InnerSink, innerRequest } from './inner-request.ts';
import type { Chain } from './plan/compile-plan.ts';
import type { PlanStore } from './plan/plan-store.ts';
import { type PipelineOptions, startRequest } from './run.ts';

/** Calls that the gateway itself makes to providers; see `CallProvider`. `start` completes the object, once, before the first call. */
export interface ProviderCalls {
  call(call: ProviderCall): Promise<JsonObject>;
  start(options: PipelineOptions): void;
}

const paths: Record<OwnOperation, string> = {
  chatComplete: '/v1/chat/completions',
  embed: '/v1/embeddings',
  moderate: '/v1/moderations',
};

/** `chain` and `plans` have the plugins that such calls pass: no guardrail and no cache, so that no call causes another one. */
export function createProviderCalls(chain: Chain, plans: PlanStore): ProviderCalls {
  let options: PipelineOptions | null = null;
  return {
    start(given) {
      options = { ...given, chain, plans };
    },
    call(call) {
      if (options === null) throw new Error('a provider was called before the gateway was composed');
      return callProvider(options, call);
    },
  };
}

function callProvider(options: PipelineOptions, call: ProviderCall): Promise<JsonObject> {
  const { request, timeoutMs } = call;
  return new Promise((resolve, reject) => {
    const cancel = options.dispatcher.timers.after(timeoutMs, () => reject(new GatewayError('request_timeout')));
    const done = ({ status, body }: InnerReply): void => {
      cancel();
      const parsed = status === 200 ? parseObject(body) : null;
      if (parsed) resolve(parsed);
      // The body may repeat the text of the request, so it is not part of the error.
      else reject(new GatewayError('upstream_status', { message: `${call.provider} replied with status ${status}` }));
    };
    try {
      const path = paths[call.operation];
      const endpoint = options.match('POST', path);
      if (typeof endpoint === 'string') throw new GatewayError('internal', { detail: `${path} is not an endpoint` });
      const id = options.services.newId();
      const ctx = new RequestContext({
        id,
        receivedAtMs: options.services.clock.now(),
        request: innerRequest(
          request.request,
          path,
          ['content-type', 'application/json'],
          Buffer.from(JSON.stringify(call.params)),
        ),
        gatewayHeaders: new Map(),
        headerPrefix: request.headerPrefix,
        endpoint,
        plan: options.plans.base,
        traceId: request.traceId,
      });
      ctx.purpose = call.purpose;
      ctx.identity = request.identity;
      ctx.workspace = request.workspace;
      ctx.metadata = request.metadata;
      ctx.requestTarget = {
        provider: call.provider,
        credentials: {},
        customHost: null,
        settings: {},
        timeoutMs,
        forwardHeaders: null,
        strict: null,
      };
      startRequest(options, ctx, new InnerSink({ done }), endpoint);
    } catch (thrown) {
      cancel();
      reject(toGatewayError(thrown));
    }
  });
}
