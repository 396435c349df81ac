import type { RequestContext, RequestTarget } from '../../contract/plugin/context.ts';
import type { Target } from '../../contract/plugin/plan.ts';
import type { RequestPrompt } from '../../contract/plugin/prompt.ts';
import { splitModelSlug } from '../../contract/values/model-slug.ts';

/** Gives the request the body and the provider of the prompt of this target: its own, or that of the path. */
export function adoptTargetPrompt(ctx: RequestContext, prompt: RequestPrompt, target: Target): void {
  const used = prompt.byTarget?.get(target.index) ?? prompt.used;
  const { params, provider } = used;
  const model = typeof params.model === 'string' ? params.model : null;
  const split = model === null ? null : splitModelSlug(model);
  ctx.setParams(split === null ? params : { ...params, model: split.model });
  ctx.requestTarget = withProvider(prompt.named, split?.slug ?? provider);
  ctx.prompt = { ...prompt, used };
}

/** Returns the target of a request with this provider, unless it names one. */
export function withProvider(target: RequestTarget | null, provider: string | null): RequestTarget | null {
  if (provider === null || (target?.provider ?? null) !== null) return target;
  return { ...(target ?? open), provider };
}

const open: Omit<RequestTarget, 'provider'> = {
  credentials: {},
  customHost: null,
  settings: {},
  timeoutMs: null,
  forwardHeaders: null,
  strict: null,
};
