import type { UpstreamSender, UpstreamTransport } from '../contract/provider/upstream.ts';
import type { Timers } from '../contract/values/time/timers.ts';
import { isAdminCall } from '../endpoints/control-plane-paths.ts';
import { explainPath } from '../endpoints/explain-path.ts';
import { matchEndpoint } from '../endpoints/match-endpoint.ts';
import { type ModelToolParts, withModelTools } from '../model-tools/serve-model-tools.ts';
import { createFailedCallLog } from '../pipeline/attempt/failed-call-log.ts';
import type { RetryBudget } from '../pipeline/attempt/retry-budget.ts';
import { createHandler, type Handle, type PipelineOptions } from '../pipeline/run.ts';
import { createResolver, type ResolverOptions } from '../pipeline/target/resolve-target.ts';
import type { TokenFetchOptions } from '../pipeline/target/token-fetch.ts';
import { createMeterReply } from '../pipeline/usage/reply-meter.ts';
import { providers } from '../providers/index.ts';
import { passedUsage } from '../providers/passed-usage.ts';
import type { composeChain } from './compose-chain.ts';
import { attemptSteps, endpointHandlers, type Protocols } from './endpoint-handlers.ts';
import { createSignServices } from './sign-services.ts';

type Outgoing = PipelineOptions['dispatcher']['outgoing'];

/** Parts of a pipeline that differ between a gateway process and a test. */
export interface PipelineParts
  extends Pick<
    PipelineOptions,
    'clientSecrets' | 'errorReply' | 'forwardToControlPlane' | 'prefixes' | 'memory' | 'sessions' | 'storedOnManyTargets'
  > {
  readonly chain: ReturnType<typeof composeChain>;
  readonly transport: UpstreamTransport;
  /** Sends calls to the service's own store of files and batches. */
  readonly ownStore: UpstreamSender;
  readonly resolver: Omit<ResolverOptions, 'providers' | 'documents' | 'now' | 'bodies'>;
  /** Absent: paths of MCP servers and A2A agents are not found. */
  readonly protocols?: Protocols;
  readonly tokenFetch: TokenFetchOptions;
  /** True allows stored providers to authenticate as this machine. */
  readonly machineIdentity: boolean;
  readonly retryBudget: RetryBudget;
  readonly timers: Timers;
  readonly bodies: PipelineOptions['bodies'];
  /** Bounds of requests with tools of MCP servers. */
  readonly modelTools: ModelToolParts['limits'];
  readonly outgoing: Pick<Outgoing, 'defaultMarkers' | 'timeouts' | 'streamedBodyBytesMax' | 'traceContext'>;
}

/** Puts the data plane together: a request goes in, one reply comes out. Used by gateway processes and by the test kit. */
export function composePipeline(parts: PipelineParts): Handle {
  const { bodies, transport, tokenFetch, machineIdentity } = parts;
  const { services, chain, plans, providerCalls } = parts.chain;
  const { documents, clock } = services;
  const resolve = createResolver({ ...parts.resolver, providers, documents, bodies, now: clock.now });
  const endpoints = endpointHandlers(parts.protocols);
  const options: PipelineOptions = {
    endpoints,
    storedOnManyTargets: parts.storedOnManyTargets,
    sessions: parts.sessions,
    clientSecrets: parts.clientSecrets,
    chain,
    plans,
    services,
    prefixes: parts.prefixes,
    bodies,
    memory: parts.memory,
    match: matchEndpoint,
    isAdminCall,
    explainPath,
    errorReply: parts.errorReply,
    forwardToControlPlane: parts.forwardToControlPlane,
    dispatcher: {
      transport,
      ownStore: parts.ownStore,
      resolve,
      services,
      retryBudget: parts.retryBudget,
      prompts: endpoints.prompts,
      stepsOf: attemptSteps,
      timers: parts.timers,
      passedUsage,
      meterReply: createMeterReply(passedUsage),
      logFailedCall: createFailedCallLog(services.log),
      sign: createSignServices(tokenFetch),
      signStored: createSignServices({ ...tokenFetch, machineIdentity }),
      outgoing: {
        ...parts.outgoing,
        prefixes: parts.prefixes,
        formBytesMax: bodies.formBytesMax,
        now: services.clock.now,
        newId: services.newId,
      },
    },
  };
  providerCalls.start(options);
  const { prefixes, memory, timers, errorReply, modelTools: limits } = parts;
  const { newId, tasks } = services;
  const handle = createHandler(options);
  return withModelTools({ handle, match: matchEndpoint, limits, prefixes, bodies, memory, timers, newId, errorReply, tasks });
}
