import type { Identity, RequestContext, RequestTarget } from '../contract/plugin/context.ts';
import type { Plan, Target } from '../contract/plugin/plan.ts';
import type { RenderedPrompt, RequestPrompt } from '../contract/plugin/requests/prompt.ts';
import { headerParam } from '../contract/protocol/header-names.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { onceWork } from '../contract/values/large-json/json-steps.ts';
import { splitModelSlug } from '../contract/values/models/model-slug.ts';
import { percentDecoded } from '../contract/values/text/percent-decoded.ts';
import { encode } from '../pipeline/attempt/outgoing-body.ts';
import type { PipelineOptions, PromptSteps } from '../pipeline/run.ts';
import { findPrompt } from './find-prompt.ts';
import { openPrompt, type PromptServices, promptInput, renderPrompt } from './render-prompt.ts';

/** The steps of prompts on the main path: see `PromptSteps`. */
export const promptSteps: PromptSteps = { open, nameProvider, openTargets, adoptTarget };

export function servicesOf({ services, bodies }: Pick<PipelineOptions, 'services' | 'bodies'>): PromptServices {
  return { documents: services.documents, random: services.random, bytesMax: bodies.jsonBytesMax };
}

/** Returns the reference in the path: `pp-id`, `pp-id@12`. Some clients encode the `@`. */
export function referenceOf(ctx: RequestContext): string {
  return percentDecoded(ctx.endpoint?.pathParams?.id ?? '');
}

async function open(options: PipelineOptions, ctx: RequestContext): Promise<void> {
  const services = servicesOf(options);
  const input = promptInput(ctx);
  const caller = ctx.identity as Identity;
  const used = await renderPrompt(services, caller, await openPrompt(services, caller, referenceOf(ctx)), input);
  ctx.prompt = { used, ...input, named: null, byTarget: null };
  ctx.endpoint = endpointOf(options, used.operation);
  ctx.setParams(used.params);
  ctx.stream = used.params.stream === true;
  setBody(ctx, encode(used.params));
}

function endpointOf(options: PipelineOptions, operation: RenderedPrompt['operation']) {
  const endpoint = options.match('POST', operation === 'chatComplete' ? '/v1/chat/completions' : '/v1/completions');
  if (typeof endpoint === 'string') throw new GatewayError('internal', { detail: `${operation} has no route` });
  return endpoint;
}

/** The body as if the client had sent it: it goes to providers and decides about hits of the cache. */
function setBody(ctx: RequestContext, body: Uint8Array): void {
  ctx.body = body;
  ctx.holdBytes(ctx.body.length);
  // A template can repeat a variable, so that the body is far longer than the request.
  if (body.length > onceWork) ctx.needsSteps = true;
}

function nameProvider(ctx: RequestContext): void {
  const prompt = ctx.prompt as RequestPrompt;
  ctx.prompt = { ...prompt, named: ctx.requestTarget };
  ctx.requestTarget = withProvider(ctx.requestTarget, prompt.used.provider);
}

async function openTargets(options: PipelineOptions, ctx: RequestContext): Promise<void> {
  const { prompt } = ctx;
  if (prompt === null) {
    throw new GatewayError('invalid_config', {
      message: 'Invalid config passed: prompt_id is for requests to /v1/prompts/{id}/completions only',
      param: headerParam('config'),
    });
  }
  const byTarget = await renderTargets(options, ctx, prompt);
  ctx.prompt = { ...prompt, byTarget };
  // A cached reply belongs to these versions of all prompts.
  setBody(ctx, encode({ ...prompt.used.params, prompts: [...byTarget].map(([index, { params }]) => [index, params]) }));
  ctx.bodyChanged = true;
}

async function renderTargets(
  options: PipelineOptions,
  ctx: RequestContext,
  prompt: RequestPrompt,
): Promise<ReadonlyMap<number, RenderedPrompt>> {
  const services = servicesOf(options);
  const caller = ctx.identity as Identity;
  const byReference = new Map<string, RenderedPrompt>();
  const unknown: string[] = [];
  for (const reference of referencesOf(ctx.plan)) {
    const found = await findPrompt(services.documents, caller, reference, services.random);
    if (found === null) unknown.push(reference);
    else byReference.set(reference, await renderPrompt(services, caller, found, prompt));
  }
  if (unknown.length > 0) throw invalid(`Following prompt_id are not valid: ${unknown.join(', ')}`);
  for (const [reference, { operation }] of byReference) {
    if (operation === ctx.endpoint?.operation) continue;
    throw invalid(`prompt_id: ${reference} and the prompt of the path must both have messages, or both a text`);
  }
  return new Map(ctx.plan.targets.map(({ index, promptId }) => [index, byReference.get(promptId ?? '') ?? prompt.used] as const));
}

function referencesOf(plan: Plan): Set<string> {
  return new Set(plan.targets.flatMap(({ promptId }) => promptId ?? []));
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_config', { message, param: headerParam('config') });
}

function adoptTarget(ctx: RequestContext, prompt: RequestPrompt, target: Target): void {
  const used = prompt.byTarget?.get(target.index) ?? prompt.used;
  const { params, provider } = used;
  const model = typeof params.model === 'string' ? params.model : null;
  const split = model === null ? null : splitModelSlug(model);
  ctx.setParams(split === null ? params : { ...params, model: split.model });
  ctx.requestTarget = withProvider(prompt.named, split?.slug ?? provider);
  ctx.prompt = { ...prompt, used };
}

/** Returns the target of a request with this provider, unless it names one. */
function withProvider(target: RequestTarget | null, provider: string | null): RequestTarget | null {
  if (provider === null || (target?.provider ?? null) !== null) return target;
  return { ...(target ?? noTarget), provider };
}

const noTarget: Omit<RequestTarget, 'provider'> = {
  credentials: {},
  customHost: null,
  settings: {},
  timeoutMs: null,
  forwardHeaders: null,
  strict: null,
};
