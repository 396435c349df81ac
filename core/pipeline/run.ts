import { RequestContext } from '../contract/plugin/context.ts';
import type { CoreServices } from '../contract/plugin/core-plugin.ts';
import type { Plan, Target } from '../contract/plugin/plan.ts';
import type { Reply } from '../contract/plugin/plugin.ts';
import type { Endpoint } from '../contract/plugin/requests/endpoint.ts';
import { isSession } from '../contract/plugin/requests/is-session.ts';
import { namesModelInMessages } from '../contract/plugin/requests/passed-traffic.ts';
import type { RequestPrompt } from '../contract/plugin/requests/prompt.ts';
import type { ClientSecrets, SessionOutcome, Sessions } from '../contract/plugin/sessions/web-socket.ts';
import { headerParam } from '../contract/protocol/header-names.ts';
import type { BodyMemory } from '../contract/values/bodies/body-memory.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { overloaded } from '../contract/values/errors/overloaded.ts';
import type { InboundRequest, ReplySink } from '../contract/values/http/http.ts';
import { isPromise, type Maybe } from '../contract/values/maybe.ts';
import { adoptHandshakeKeys } from './attempt/socket-protocols.ts';
import type { AttemptReply } from './attempt-reply.ts';
import { deliver, end, refuse } from './deliver.ts';
import { type Dispatcher, dispatch } from './dispatch.ts';
import type { Chain } from './plan/compile-plan.ts';
import type { PlanStore } from './plan/plan-store.ts';
import { readAhead } from './plan/read-ahead.ts';
import { defaultsOf, loadGuardrails, type SavedGuardrails } from './plan/saved-guardrails.ts';
import { decodedRequest } from './request/decoded-body.ts';
import { readGatewayHeaders } from './request/gateway-headers.ts';
import { passedQuery } from './request/passed-query.ts';
import { readPassedRequest } from './request/passed-request.ts';
import { checkProviderPath } from './request/provider-path.ts';
import { type BodyLimits, readParams } from './request/read-body.ts';
import { checkTraceId, traceIdOf } from './request/trace-id.ts';

/** An endpoint of the data plane, the control plane, a reserved path, or nothing. */
type Match = Endpoint | 'control-plane' | 'reserved' | 'not-found' | 'method-not-allowed';

/**
 * Serves an endpoint that is not one call to a provider. Returns the reply to send, or null if it was sent or the client has
 * disconnected. `end` is called at the end of a WebSocket session.
 */
export type EndpointHandler = (
  options: PipelineOptions,
  ctx: RequestContext,
  sink: ReplySink,
  end: (outcome: SessionOutcome) => void,
) => Promise<AttemptReply | null>;

/** Steps of prompts on the main path; see core/prompts. Requests without a prompt take none of them. */
export interface PromptSteps {
  /** Replaces body and endpoint of a prompt completion by the rendered prompt. */
  open(options: PipelineOptions, ctx: RequestContext): Promise<void>;
  /** Completes the target of the request with the provider of its prompt. */
  nameProvider(ctx: RequestContext): void;
  /** Renders the prompts of the plan's targets. */
  openTargets(options: PipelineOptions, ctx: RequestContext): Promise<void>;
  /** Sets body and provider of the request to those of the prompt of this target: its own, or that of the path. */
  adoptTarget(ctx: RequestContext, prompt: RequestPrompt, target: Target): void;
}

/** Endpoints beside the main path; see core/compose/endpoint-handlers.ts. */
export interface EndpointHandlers {
  /** Returns the handler of a request that no plugin has replied to; null for the main path. */
  handlerOf(ctx: RequestContext): EndpointHandler | null;
  /** Returns the reply to a failed request in the form of its endpoint; null for the usual error. */
  errorReply(ctx: RequestContext, error: GatewayError): Reply | null;
  readonly prompts: PromptSteps;
  /** Makes a request of Azure's SDKs one of the route below `/v1`; see `Endpoint.azureDeployment`. */
  adoptDeployment(ctx: RequestContext, deployment: string | null): Promise<void>;
  /** Reads the files of an upload for a plan that judges them. Other requests are left as they are. */
  readUpload(ctx: RequestContext, limits: BodyLimits): Promise<void>;
}

export interface PipelineOptions {
  readonly plans: PlanStore;
  /** Allows a config with several targets for files, batches and fine-tuning jobs. */
  readonly storedOnManyTargets?: boolean;
  readonly endpoints: EndpointHandlers;
  readonly chain: Chain;
  readonly services: CoreServices;
  readonly dispatcher: Dispatcher;
  readonly prefixes: readonly string[];
  readonly bodies: BodyLimits;
  /** The bound on bodies this process holds; absent = none. */
  readonly memory?: BodyMemory;
  /** Takes requests that become WebSocket sessions; absent = there are none. */
  readonly sessions?: Sessions;
  /** Absent: there are no client secrets. */
  readonly clientSecrets?: ClientSecrets;
  match(method: string, path: string): Match;
  /** True for a pass-through request whose path is also a route of the control plane, if its credential can only be for that. */
  isAdminCall(request: InboundRequest, gatewayHeaders: ReadonlyMap<string, string>): boolean;
  /** Explains a method and path without a route or provider. Null if there is no explanation. */
  explainPath(method: string, path: string): GatewayError | null;
  /** Returns status, headers and body of an error in the format of the route. */
  errorReply(error: GatewayError, format: 'chat' | 'messages' | 'responses' | 'plain' | 'gemini', requestId: string): Reply;
  forwardToControlPlane(request: InboundRequest, sink: ReplySink): void;
}

export type Handle = (request: InboundRequest, sink: ReplySink) => void;

/** The data plane as one function: takes a request, writes one reply to the sink, and leaves one record. */
export function createHandler(options: PipelineOptions): Handle {
  return (received, sink) => {
    const match = options.match(received.method, received.path);
    if (match === 'control-plane') {
      options.forwardToControlPlane(received, sink);
      return;
    }
    if (received.webSocketProtocols) adoptHandshakeKeys(received, options.prefixes[0] as string);
    const isHandshake = typeof match === 'object' && match.isRealtime && received.webSocketProtocols;
    const opened = isHandshake ? (options.clientSecrets?.open(received) ?? null) : null;
    const request = opened?.request ?? received;
    const { values, prefix } = readGatewayHeaders(request.headers, options.prefixes);
    if (typeof match === 'object' && match.operation === null && options.isAdminCall(request, values)) {
      options.forwardToControlPlane(request, sink);
      return;
    }
    const id = options.services.newId();
    const ctx = new RequestContext({
      id,
      receivedAtMs: options.services.clock.now(),
      request: typeof match !== 'string' && readsBody(match) ? decodedRequest(request) : request,
      gatewayHeaders: values,
      headerPrefix: prefix,
      endpoint: typeof match === 'string' ? null : match,
      plan: options.plans.base,
      traceId: traceIdOf(values, request, id),
    });
    if (opened) ctx.firstMessage = opened.firstMessage;
    startRequest(options, ctx, sink, match);
  };
}

/** True if the body is parsed. Bodies of other routes pass in their coding. */
function readsBody({ operation, body }: Endpoint): boolean {
  const kind = body ?? (operation === null ? 'stream' : 'json');
  return kind !== 'stream' && kind !== 'none';
}

/** Runs a request from its first plugin to the end of its reply. */
export function startRequest(options: PipelineOptions, ctx: RequestContext, sink: ReplySink, match: Match): void {
  ctx.startedAtMs = options.services.clock.elapsed();
  ctx.memory = options.memory ?? null;
  sink.onAbort((error) => {
    ctx.aborted = true;
    ctx.abortUpstream?.();
    if (error) end(options, ctx, { kind: 'failed', status: error.status, error });
    else end(options, ctx, { kind: 'aborted', status: 499, error: new GatewayError('client_closed') });
  });
  sink.onShutdown?.((error) => endEarly(options, ctx, sink, error));
  void run(options, ctx, sink, match).catch((thrown: unknown) => refuse(options, ctx, sink, toGatewayError(thrown)));
}

/** Ends a request that outlasts the process: with an error, or with the last event of a stream that has begun. */
function endEarly(options: PipelineOptions, ctx: RequestContext, sink: ReplySink, error: GatewayError): void {
  // Its reply waits for its record only.
  if (ctx.ended) return;
  if (sink.started && ctx.endStream !== null) return ctx.endStream(error);
  const { started } = sink;
  if (!started) refuse(options, ctx, sink, error);
  ctx.aborted = true;
  ctx.abortUpstream?.(error);
  if (!started) return;
  end(options, ctx, { kind: 'cut', status: error.status, error });
  sink.destroy();
}

async function run(options: PipelineOptions, ctx: RequestContext, sink: ReplySink, match: Match): Promise<void> {
  if (typeof match === 'string') throw noRoute(options, ctx.request);
  checkTraceId(ctx.gatewayHeaders, ctx.headerPrefix);
  checkProviderPath(match);
  const reply = await askPlugins(options, ctx, sink);
  if (ctx.aborted) return;
  if (reply) return deliver(options, ctx, sink, { kind: 'replaced', reply });
  const handle = options.endpoints.handlerOf(ctx);
  const attemptReply = handle
    ? await handle(options, ctx, sink, ({ kind, error }) => end(options, ctx, { kind, status: 101, error }))
    : await dispatch(ctx, sink, options.dispatcher);
  if (attemptReply !== null && !ctx.aborted) await deliver(options, ctx, sink, attemptReply);
}

function noRoute(options: PipelineOptions, { method, path }: InboundRequest): GatewayError {
  return (
    options.explainPath(method, path) ??
    new GatewayError('not_found', { message: `Not Found: ${method} ${path.slice(0, 200)} is not a route of the gateway` })
  );
}

const tooManyOpen =
  'The open requests of this workspace are as many as its share of those that the gateway handles at a time (REQUESTS_IN_FLIGHT_MAX)';

/** Runs `onRequest` down the list. The body is read just before the first hook that may use it. */
async function askPlugins(options: PipelineOptions, ctx: RequestContext, sink: ReplySink): Promise<Reply | undefined> {
  const { beforeBody, beforePlan } = options.chain;
  const { prompts, adoptDeployment, readUpload } = options.endpoints;
  for (let i = 0; ; i++) {
    if (i === beforeBody && ctx.identity && sink.countFor?.(ctx.identity.workspaceId) === false) throw overloaded(tooManyOpen);
    if (i === beforeBody && (ctx.endpoint?.operation || ctx.endpoint?.body)) {
      const beganAt = performance.now();
      await readParams(ctx, options.bodies);
      const { azureDeployment } = ctx.endpoint;
      if (azureDeployment !== undefined) await adoptDeployment(ctx, azureDeployment);
      ctx.times.parseMs = performance.now() - beganAt;
      if (ctx.endpoint.isPrompt) await prompts.open(options, ctx);
    }
    if (i === beforePlan) {
      ctx.query = passedQuery(ctx.query, ctx.token);
      if (ctx.prompt !== null) prompts.nameProvider(ctx);
      const adopted = adoptPlan(ctx, options);
      if (isPromise(adopted)) await adopted;
      if (ctx.plan.hasPrompts) await prompts.openTargets(options, ctx);
      ctx.planEntered = options.plans.enter(ctx.plan);
      for (const hook of ctx.plan.onStart) {
        const outcome = hook(ctx);
        const reply = isPromise(outcome) ? await outcome : outcome;
        if (reply || ctx.aborted) return reply;
      }
      if (!ctx.endpoint?.operation) await readPassedRequest(ctx, options.bodies);
      if (ctx.plan.readsUploads) await readUpload(ctx, options.bodies);
    }
    // A hook may have replaced the plan, so the list is read again each time.
    const hook = ctx.plan.onRequest[i];
    if (!hook) {
      if (ctx.requestBytes === 0) ctx.requestBytes = Math.max(0, ctx.request.body.length);
      return undefined;
    }
    const outcome = hook(ctx);
    const reply = isPromise(outcome) ? await outcome : outcome;
    if (reply || ctx.aborted) return reply ?? undefined;
  }
}

type AdoptOptions = Pick<PipelineOptions, 'plans' | 'storedOnManyTargets'> & {
  readonly services: Pick<CoreServices, 'documents'>;
};

/**
 * Sets the plan of the config that the plugins of stage `config` chose, with its saved guardrails and those of the workspace. Throws
 * GatewayError `invalid_config` for a config that does not compile or does not fit the endpoint, and for a guardrail that does not exist, and
 * `missing_provider` if neither the request nor a target names a provider.
 */
export function adoptPlan(ctx: RequestContext, options: AdoptOptions): Maybe<void> {
  const { configChoice, identity } = ctx;
  if (configChoice === null) return;
  const { plans, services } = options;
  const source = plans.sourceOf(configChoice);
  const defaults = defaultsOf(ctx.workspace);
  if (identity === null || (defaults === null && source.references.length === 0))
    return adopt(ctx, plans.plan(source, null, ''), options);
  const guardrails = loadGuardrails(services.documents, identity, source.references, defaults);
  const conclude = (loaded: SavedGuardrails) => adopt(ctx, plans.plan(source, loaded, identity.workspaceId), options);
  return isPromise(guardrails) ? guardrails.then(conclude) : conclude(guardrails);
}

function adopt(ctx: RequestContext, plan: Plan, { storedOnManyTargets, services }: AdoptOptions): void {
  const { endpoint, identity, requestTarget } = ctx;
  ctx.plan = plan;
  ctx.configSlug = plan.slug;
  ctx.configVersionId = plan.versionId;
  if (plan.readsAhead && identity !== null)
    readAhead(services.documents, plan, identity.workspaceId, requestTarget?.provider ?? null);
  // A resource stored by one provider does not exist at another, so a second target would always fail.
  if ((endpoint?.isStored || endpoint?.isOfStored) && plan.targets.length > 1 && !storedOnManyTargets) throw manyTargets();
  if (endpoint?.isStored) return;
  if (endpoint?.routing === 'optional' || (ctx.requestTarget?.provider ?? null) !== null) return;
  for (const target of plan.targets) if (target.provider === null && target.promptId === null) throw missingProvider(ctx);
}

function manyTargets(): GatewayError {
  return new GatewayError('invalid_config', {
    message: 'Invalid config passed: files, batches and fine-tuning jobs allow at most one target',
    param: headerParam('config'),
  });
}

function missingProvider({ model, endpoint, request, params }: RequestContext): GatewayError {
  const refused = (reason: string) =>
    new GatewayError('missing_provider', {
      message: `Either x-svc-config or x-svc-provider header is required${reason}`,
      param: headerParam('provider'),
    });
  if (isSession(endpoint, request)) {
    if (namesModelInMessages(endpoint?.proxyPath ?? '')) return refused(': messages of a session cannot choose its provider');
  } else if (params === null || endpoint?.body === 'none')
    return refused(': a model in the body does not choose the provider on this route');
  const slug = /^([\w-]{1,100})\/./.exec(model ?? '')?.[1];
  const hint =
    slug === undefined ? '' : `. If ${slug} is a stored provider, put @ in front of the model: @${model?.slice(0, 200)}`;
  return refused(`, or a model of the form @provider-slug/model${hint}`);
}
