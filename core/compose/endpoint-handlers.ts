import { batchSteps } from '../batches/batch-steps.ts';
import { uploadSteps } from '../batches/upload-steps.ts';
import type { RequestContext } from '../contract/plugin/context.ts';
import type { Reply } from '../contract/plugin/plugin.ts';
import type { Endpoint } from '../contract/plugin/requests/endpoint.ts';
import { isSession } from '../contract/plugin/requests/is-session.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';
import { addDebugRoute } from '../explain/debug-route.ts';
import { explainConfig } from '../explain/explain-config.ts';
import { listModels } from '../model-list/list-models.ts';
import { adoptDeployment } from '../pipeline/adopt-deployment.ts';
import { type Dispatcher, dispatch } from '../pipeline/dispatch.ts';
import { readUpload } from '../pipeline/request/read-upload.ts';
import type { EndpointHandler, EndpointHandlers, PipelineOptions } from '../pipeline/run.ts';
import { promptSteps } from '../prompts/adopt-prompt.ts';
import { listPromptVariables, replyRendered } from '../prompts/serve-prompts.ts';
import { createClientSecret } from '../realtime/create-client-secret.ts';
import { runSession } from '../realtime/run-session.ts';
import { replyToInvocation } from './invoke-guardrails.ts';

/** Steps around the attempts of operations that need more than one call to a provider, or a check that depends on it. */
export const attemptSteps: Dispatcher['stepsOf'] = { createBatch: batchSteps, uploadFile: uploadSteps };

/** An endpoint with errors of its own: the MCP gateway, or that of A2A agents. */
export interface ProtocolHandlers {
  readonly handle: EndpointHandler;
  /** Returns the reply to a failed request; null for the usual error. */
  errorReply(ctx: RequestContext, error: GatewayError): Reply | null;
}

/** The handlers of endpoints that are not one call to a provider. `protocols`: those with errors of their own. */
export function endpointHandlers(protocols: Protocols = {}): EndpointHandlers {
  const byName: Handlers = { ...handlers, mcp: protocols.mcp?.handle, agent: protocols.agent?.handle };
  return {
    handlerOf({ endpoint, request, gatewayHeaders }) {
      const handle = isSession(endpoint, request) ? runSession : ((endpoint && byName[endpoint.name]) ?? null);
      return gatewayHeaders.has('debug-route') ? withDebugRoute(handle) : handle;
    },
    errorReply: (ctx, error) => protocols[ctx.endpoint?.name as keyof Protocols]?.errorReply(ctx, error) ?? null,
    prompts: promptSteps,
    adoptDeployment,
    readUpload,
  };
}

/** Absent: the paths of the protocol are not found. */
export interface Protocols {
  readonly mcp?: ProtocolHandlers;
  readonly agent?: ProtocolHandlers;
}

type Handlers = { readonly [Name in Endpoint['name']]?: EndpointHandler | undefined };

const handlers: Handlers = {
  createClientSecret: replyOf(createClientSecret),
  createRealtimeSession: replyOf(createClientSecret),
  createTranscriptionSession: replyOf(createClientSecret),
  explainConfig: replyOf(explainConfig),
  invokeGuardrails: replyOf(replyToInvocation),
  listModels: (options, ctx) => listModels(ctx, options.dispatcher),
  listPromptVariables: replyOf(listPromptVariables),
  renderPrompt: replyOf(replyRendered),
};

/** Explains the route before the request takes it. `handle`: the handler of the endpoint; null for the main path. */
function withDebugRoute(handle: EndpointHandler | null): EndpointHandler {
  return async (options, ctx, sink, end) => {
    await addDebugRoute(ctx, options.dispatcher);
    if (ctx.aborted) return null;
    return handle === null ? dispatch(ctx, sink, options.dispatcher) : handle(options, ctx, sink, end);
  };
}

function replyOf(reply: (options: PipelineOptions, ctx: RequestContext) => Promise<Reply>): EndpointHandler {
  return async (options, ctx) => ({ kind: 'replaced', reply: await reply(options, ctx) });
}
