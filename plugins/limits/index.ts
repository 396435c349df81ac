import * as v from 'valibot';
import type { Identity, RequestContext } from '../../core/contract/plugin/context.ts';
import { type CoreHooks, type CorePlugin, type CoreServices, defineCorePlugin } from '../../core/contract/plugin/core-plugin.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import type { ProviderDocument } from '../../core/contract/protocol/documents.ts';
import type { Leases, ModelRates } from '../../core/contract/protocol/limits/leases.ts';
import type { WorkspacePoliciesDocument } from '../../core/contract/protocol/limits/policies.ts';
import type { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import { DocumentMeters } from './document-meters.ts';
import { type CallRates, imageToolModel, withImageTool } from './image-tool.ts';
import type { Meter } from './meters.ts';
import { OpenOutputs } from './open-outputs.ts';
import { modelOf } from './policy-values.ts';
import { refusalHeaders, unknownLimit } from './refusal.ts';
import { Reservations } from './reservations.ts';
import { otherModelUsed, refuseDeferred, refuseUnmetered } from './unmetered.ts';

/** Budgets and rate limits of key, workspace, provider, integration and policies. Requests without any cost three comparisons. */
export function limits(): CorePlugin {
  // Limits depend on no config: all plans of a process share their hooks.
  let hooks: CoreHooks | null = null;
  return defineCorePlugin({
    name: 'limits',
    stage: 'limits',
    after: ['auth', 'config-resolution'],
    config: v.optional(v.strictObject({})),
    onConfig(_config, _scope, services) {
      if (!services.leases) return null;
      hooks ??= createHooks(services, services.leases);
      return hooks;
    },
  });
}

function budgetsFirst(one: Meter, other: Meter): number {
  return Number(other.isBudget) - Number(one.isBudget);
}

function createHooks(services: CoreServices, leases: Leases): CoreHooks {
  const { clock, documents } = services;
  const slot = services.slot<Reservations>();
  const documentMeters = new DocumentMeters(leases, services);
  const outputs = new OpenOutputs();

  return {
    onRequest(ctx) {
      const identity = ctx.identity;
      if (!identity) return undefined;
      const all = documentMeters.ofCaller(identity, ctx.workspace);
      // A call by the gateway costs the caller money, but is no request of the caller.
      const meters = ctx.purpose === null ? all : all.filter((meter) => meter.isBudget);
      if (identity.rejectUnmetered || ctx.workspace?.rejectUnmetered) refuseUnmetered(ctx);
      if (meters.length === 0) return undefined;
      if (meters.some((meter) => meter.isBudget)) refuseDeferred(ctx, ctx.plan.targets);
      const state = stateOf(ctx);
      return state.admit(isFree(ctx) ? meters.filter((meter) => meter.unit === 'requests') : meters, state.own);
    },

    onAttempt(ctx, target) {
      const state = slot.get(ctx);
      // A retry.
      if (state?.target === target) return undefined;
      const { workspace, providerSlug: slug } = ctx;
      const policies = workspace?.hasPolicies ? documents.get('workspace-policies', workspace.id) : null;
      const provider = slug === null ? null : documents.get('provider', `${ctx.identity?.workspaceId}/${slug}`);
      if (isPromise(policies) || isPromise(provider)) {
        return Promise.all([provider, policies]).then((found) => enterWith(ctx, target, ...found));
      }
      return enterWith(ctx, target, provider, policies);
    },

    onToolCall(ctx) {
      const document = ctx.workspace?.hasPolicies ? documents.get('workspace-policies', ctx.workspace.id) : null;
      return isPromise(document) ? document.then((found) => admitTool(ctx, found)) : admitTool(ctx, document);
    },

    onSend(ctx) {
      slot.get(ctx)?.noteTaken();
    },

    onError(ctx, error) {
      ctx.replyHeaders.push(...refusalHeaders(error));
    },

    onSessionUsage(ctx) {
      const state = slot.get(ctx);
      if (ctx.otherModel !== null && state?.isPriced) return otherModelUsed(ctx);
      if (!state?.target || ctx.model === state.pricedModel) return state?.renew();
      // A session may name its model only after it has opened.
      state.pricedModel = ctx.model;
      const rates = ratesFor(ctx, state.target);
      const renew = (found: ModelRates | null): Maybe<GatewayError | null> => {
        state.rates = found;
        return state.renew();
      };
      return isPromise(rates) ? rates.then(renew, () => renew(null)) : renew(rates);
    },

    onCheckpoint(ctx) {
      slot.get(ctx)?.note();
    },

    onEnd(ctx, outcome) {
      slot.get(ctx)?.settle(outcome);
    },
  };

  /** Requests of key and workspace were counted before. Their tokens are counted for tools and agents only, by estimates. */
  function admitTool(ctx: RequestContext, document: WorkspacePoliciesDocument | null): Maybe<undefined> {
    const own = documentMeters.ofCaller(ctx.identity as Identity, ctx.workspace).filter(({ unit }) => unit === 'tokens');
    const meters = document ? [...own, ...documentMeters.ofToolPolicies(document, ctx)].sort(budgetsFirst) : own;
    if (meters.length === 0) return undefined;
    const state = slot.get(ctx) ?? stateOf(ctx);
    return state.admit(meters, state.own);
  }

  function enterWith(
    ctx: RequestContext,
    target: Target,
    provider: ProviderDocument | null,
    policies: WorkspacePoliciesDocument | null,
  ): Maybe<undefined> {
    const own = provider ? documentMeters.ofProvider(provider) : [];
    const meters = policies ? [...own, ...documentMeters.ofPolicies(policies, ctx, target, provider)].sort(budgetsFirst) : own;
    const state = slot.get(ctx);
    if (meters.length === 0 && !state?.hasCost && !state?.target) return undefined;
    return enter(ctx, target, state ?? stateOf(ctx), meters);
  }

  /** Enters a target with its reservations. A retry at the same target uses them too; after a failure it asks again. */
  function enter(ctx: RequestContext, target: Target, state: Reservations, all: readonly Meter[]): Maybe<undefined> {
    const failed = (error: unknown): never => {
      state.target = null;
      throw error;
    };
    state.leaveTarget();
    state.target = target;
    try {
      const reserved = reserve(ctx, target, state, all);
      return isPromise(reserved) ? reserved.catch(failed) : reserved;
    } catch (error) {
      return failed(error);
    }
  }

  /** Reserves the usage of a call to this target. */
  function reserve(ctx: RequestContext, target: Target, state: Reservations, all: readonly Meter[]): Maybe<undefined> {
    const meters = isFree(ctx) ? all.filter((meter) => meter.unit === 'requests' && !meter.isBudget) : all;
    if (meters.some((meter) => meter.isBudget && meter.unit !== 'requests')) refuseDeferred(ctx, [target]);
    const priced = meters.find((meter) => meter.unit === 'cost') ?? state.own.find(({ meter }) => meter.unit === 'cost')?.meter;
    state.pricedModel = ctx.model;
    if (!priced) return state.admit(meters, state.ofTarget);
    const then = (): Maybe<undefined> => {
      const grown = state.growCost();
      return isPromise(grown) ? grown.then(() => state.admit(meters, state.ofTarget)) : state.admit(meters, state.ofTarget);
    };
    const rates = ratesFor(ctx, target);
    if (!isPromise(rates)) {
      state.rates = rates;
      return then();
    }
    return rates.then(
      (found) => {
        state.rates = found;
        return then();
      },
      () => {
        if (priced.onUnavailable === 'deny') throw unknownLimit(priced);
        state.rates = null;
        return then();
      },
    );
  }

  function ratesFor(ctx: RequestContext, target: Target): Maybe<CallRates | null> {
    const model = modelOf(ctx, target);
    if (model === null || ctx.provider === null) return null;
    const workspaceId = ctx.identity?.workspaceId ?? '';
    const call = { workspaceId, provider: ctx.provider, slug: ctx.providerSlug, model };
    const drawing = imageToolModel(ctx, target);
    return drawing === null ? leases.rates(call) : withImageTool(leases.rates(call), leases.rates({ ...call, model: drawing }));
  }

  function stateOf(ctx: RequestContext): Reservations {
    const state = new Reservations(ctx, clock, outputs);
    slot.set(ctx, state);
    return state;
  }
}

/** True for requests that use no tokens: reading files, batches and models, managing stored resources, and counting tokens. */
function isFree({ endpoint, request }: RequestContext): boolean {
  // A session begins with a GET on any path.
  if (endpoint?.isRealtime || (request.webSocketProtocols ?? null) !== null) return false;
  return endpoint?.usesNoTokens === true || request.method === 'GET' || endpoint?.traffic === 'free';
}
