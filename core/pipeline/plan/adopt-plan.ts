import type { ConfigChoice, RequestContext } from '../../contract/plugin/context.ts';
import type { Plan } from '../../contract/plugin/plan.ts';
import type { DocumentReader } from '../../contract/plugin/plugin.ts';
import type { ConfigDocument } from '../../contract/protocol/documents.ts';
import { headerParam } from '../../contract/protocol/header-names.ts';
import { GatewayError } from '../../contract/values/errors.ts';
import { isObject, isPromise, type JsonObject, type Maybe } from '../../contract/values/json.ts';
import type { PlanSource } from './plan-source.ts';
import type { PlanStore } from './plan-store.ts';
import { defaultsOf, loadGuardrails, type SavedGuardrails } from './saved-guardrails.ts';

export interface AdoptOptions {
  readonly plans: PlanStore;
  readonly services: { readonly documents: DocumentReader };
  /** Allows a config with several targets for files, batches and fine-tuning jobs. */
  readonly storedOnManyTargets?: boolean;
}

/**
 * Sets the plan of the config that the plugins of stage `config` chose, with its saved guardrails and those of the workspace. Throws
 * GatewayError `invalid_config` for a config that does not compile or does not fit the endpoint, and for a guardrail that does not exist, and
 * `missing_provider` if neither the request nor a target names a provider.
 */
export function adoptPlan(ctx: RequestContext, options: AdoptOptions): Maybe<void> {
  const { configChoice, identity } = ctx;
  if (configChoice === null) return;
  const { plans, services } = options;
  const source = sourceOf(configChoice, plans);
  const defaults = defaultsOf(ctx.workspace);
  if (identity === null || (defaults === null && source.references.length === 0))
    return adopt(ctx, plans.plan(source, null, ''), options);
  const guardrails = loadGuardrails(services.documents, identity, source.references, defaults);
  const conclude = (loaded: SavedGuardrails) => adopt(ctx, plans.plan(source, loaded, identity.workspaceId), options);
  return isPromise(guardrails) ? guardrails.then(conclude) : conclude(guardrails);
}

function adopt(ctx: RequestContext, plan: Plan, { storedOnManyTargets }: AdoptOptions): void {
  const { endpoint } = ctx;
  ctx.plan = plan;
  ctx.configSlug = plan.slug;
  ctx.configVersionId = plan.versionId;
  if (endpoint?.isStored) {
    // A resource stored by one provider does not exist at another, so a second target would always fail.
    if (plan.targets.length > 1 && !storedOnManyTargets) throw manyTargets();
    return;
  }
  if (endpoint?.routing === 'optional' || (ctx.requestTarget?.provider ?? null) !== null) return;
  for (const target of plan.targets) if (target.provider === null && target.promptId === null) throw missingProvider();
}

function sourceOf({ document, inline, cacheMode }: ConfigChoice, plans: PlanStore): PlanSource {
  if (cacheMode !== null) return cachedSource(document, inline, cacheMode, plans);
  if (document) return plans.savedSource(document);
  return inline === null ? plans.baseSource : plans.inlineSource(inline);
}

type CacheMode = NonNullable<ConfigChoice['cacheMode']>;

/** The variants of a saved config with a cache. One object per document and mode, so that each plan is compiled once. */
const cachedDocuments = {
  simple: new WeakMap<ConfigDocument, ConfigDocument>(),
  semantic: new WeakMap<ConfigDocument, ConfigDocument>(),
};

/** Returns the config of `x-svc-cache`: with this cache, unless it has cache settings. */
function cachedSource(document: ConfigDocument | null, inline: string | null, mode: CacheMode, plans: PlanStore): PlanSource {
  if (document) return plans.savedSource(cachedDocument(document, mode));
  if (inline === null) return plans.inlineSource(JSON.stringify(cached({}, mode)));
  try {
    const config: unknown = JSON.parse(inline);
    return plans.inlineSource(isObject(config) && config.cache === undefined ? JSON.stringify(cached(config, mode)) : inline);
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return plans.inlineSource(inline);
    throw thrown;
  }
}

function cachedDocument(document: ConfigDocument, mode: CacheMode): ConfigDocument {
  if (document.config.cache !== undefined) return document;
  let made = cachedDocuments[mode].get(document);
  if (!made) {
    made = { ...document, id: `${document.id} ${mode} cache`, config: cached(document.config, mode) };
    cachedDocuments[mode].set(document, made);
  }
  return made;
}

function cached(config: JsonObject, mode: CacheMode): JsonObject {
  return { ...config, cache: { mode } };
}

function manyTargets(): GatewayError {
  return new GatewayError('invalid_config', {
    message: 'Invalid config passed: files, batches and fine-tuning jobs allow at most one target',
    param: headerParam('config'),
  });
}

function missingProvider(): GatewayError {
  return new GatewayError('missing_provider', {
    message: 'Either x-svc-config or x-svc-provider header is required, or a model of the form @provider-slug/model',
    param: headerParam('provider'),
  });
}
