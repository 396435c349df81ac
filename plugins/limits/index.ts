import * as v from 'valibot';
import type { EntityLimits, Identity, RequestContext } from '../../core/contract/plugin/context.ts';
import { type CoreHooks, type CorePlugin, type CoreServices, defineCorePlugin } from '../../core/contract/plugin/core-plugin.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import type { ProviderDocument, WorkspaceDocument } from '../../core/contract/protocol/documents.ts';
import type { Leases, ModelRates } from '../../core/contract/protocol/leases.ts';
import type { UsagePolicy, WorkspacePoliciesDocument } from '../../core/contract/protocol/policies.ts';
import type { GatewayError } from '../../core/contract/values/errors.ts';
import { isPromise, type Maybe } from '../../core/contract/values/json.ts';
import { type Meter, metersOf } from './meters.ts';
import { WorkspacePolicies } from './policies.ts';
import { modelOf } from './policy-values.ts';
import { refusalHeaders, unknownLimit } from './refusal.ts';
import { Reservations } from './reservations.ts';
import { refuseDeferred, refuseUnmetered } from './unmetered.ts';

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

const none: readonly Meter[] = [];

function budgetsFirst(one: Meter, other: Meter): number {
  return Number(other.isBudget) - Number(one.isBudget);
}

function createHooks(services: CoreServices, leases: Leases): CoreHooks {
  const { clock, documents } = services;
  const slot = services.slot<Reservations>();
  /** By the caller's identity and the workspace document. Both are one object per document. */
  const ofCaller = new WeakMap<Identity, { workspace: WorkspaceDocument | null; meters: readonly Meter[] }>();
  const ofProvider = new WeakMap<ProviderDocument, readonly Meter[]>();
  const compiledPolicies = new WeakMap<WorkspacePoliciesDocument, WorkspacePolicies>();
  const toolPolicies = new WeakMap<WorkspacePoliciesDocument, WorkspacePolicies>();
  const agentPolicies = new WeakMap<WorkspacePoliciesDocument, WorkspacePolicies>();

  return {
    onRequest(ctx) {
      const identity = ctx.identity;
      if (!identity) return undefined;
      const known = ofCaller.get(identity);
      const all = known && known.workspace === ctx.workspace ? known.meters : callerMeters(identity, ctx.workspace);
      // A call by the gateway costs the caller money, but is no request of the caller.
      const meters = ctx.purpose === null ? all : all.filter((meter) => meter.isBudget);
      if (identity.rejectUnmetered || ctx.workspace?.rejectUnmetered) refuseUnmetered(ctx);
      if (meters.length === 0) return undefined;
      if (meters.some((meter) => meter.isBudget)) refuseDeferred(ctx);
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
    const identity = ctx.identity as Identity;
    const known = ofCaller.get(identity);
    const all = known && known.workspace === ctx.workspace ? known.meters : callerMeters(identity, ctx.workspace);
    const own = all.filter(({ unit }) => unit === 'tokens');
    const meters = document ? [...own, ...toolMeters(ctx, document)].sort(budgetsFirst) : own;
    if (meters.length === 0) return undefined;
    const state = slot.get(ctx) ?? stateOf(ctx);
    return state.admit(meters, state.own);
  }

  function toolMeters(ctx: RequestContext, document: WorkspacePoliciesDocument): readonly Meter[] {
    const compiled = ctx.agent === null ? toolPolicies : agentPolicies;
    let policies = compiled.get(document);
    if (!policies) {
      policies = new WorkspacePolicies(leases, {
        ...document,
        usage: document.usage.filter((policy) => countsCalls(policy, ctx.agent === null ? 'mcp_tools' : 'agents')),
        rate: ctx.agent === null ? document.toolRate : document.agentRate,
      });
      compiled.set(document, policies);
    }
    return policies.metersOf({ ctx, target: null, providerId: null });
  }

  function enterWith(
    ctx: RequestContext,
    target: Target,
    provider: ProviderDocument | null,
    policies: WorkspacePoliciesDocument | null,
  ): Maybe<undefined> {
    const own = provider ? providerMeters(provider) : none;
    const meters = policies ? [...own, ...policyMeters(ctx, target, provider, policies)].sort(budgetsFirst) : own;
    const state = slot.get(ctx);
    if (meters.length === 0 && !state?.hasCost && !state?.target) return undefined;
    return enter(ctx, target, state ?? stateOf(ctx), meters);
  }

  function policyMeters(
    ctx: RequestContext,
    target: Target,
    provider: ProviderDocument | null,
    document: WorkspacePoliciesDocument,
  ): readonly Meter[] {
    let policies = compiledPolicies.get(document);
    if (!policies) {
      const usage = document.usage.filter(({ target }) => target === null || target === 'llm');
      policies = new WorkspacePolicies(leases, { ...document, usage });
      compiledPolicies.set(document, policies);
    }
    const meters = policies.metersOf({ ctx, target, providerId: provider?.id ?? null });
    // A call by the gateway costs the caller money, but is no request of the caller.
    return ctx.purpose === null ? meters : meters.filter((meter) => meter.isBudget && meter.unit !== 'requests');
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
    if (meters.some((meter) => meter.isBudget && meter.unit !== 'requests')) refuseDeferred(ctx);
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

  function ratesFor(ctx: RequestContext, target: Target): ReturnType<Leases['rates']> {
    const model = modelOf(ctx, target);
    if (model === null || ctx.provider === null) return null;
    const workspaceId = ctx.identity?.workspaceId ?? '';
    return leases.rates({ workspaceId, provider: ctx.provider, slug: ctx.providerSlug, model });
  }

  function stateOf(ctx: RequestContext): Reservations {
    const state = new Reservations(ctx, clock);
    slot.set(ctx, state);
    return state;
  }

  function callerMeters(identity: Identity, workspace: WorkspaceDocument | null): readonly Meter[] {
    const { organisationId } = identity;
    const key = identity.limits ? metersOf(leases, { scope: 'key', id: identity.keyId, organisationId }, identity.limits) : [];
    const own = workspace ? limitsOf(workspace.usageLimits, null, workspace.rateLimits) : null;
    const shared = own && workspace ? metersOf(leases, { scope: 'workspace', id: workspace.id, organisationId }, own) : [];
    // Budgets of key and workspace, then the rate limits of workspace and key.
    const meters = [...key.filter((one) => one.isBudget), ...shared, ...key.filter((one) => !one.isBudget)];
    ofCaller.set(identity, { workspace, meters: meters.length === 0 ? none : meters });
    return meters;
  }

  function providerMeters(document: ProviderDocument): readonly Meter[] {
    const known = ofProvider.get(document);
    if (known) return known;
    const { organisationId, workspaceId, integrationId, integrationLimits: shared } = document;
    const own = limitsOf(document.usageLimits, document.usageResetAt, document.rateLimits);
    const ofIntegration = shared ? limitsOf(shared.usageLimits, shared.usageResetAt, shared.rateLimits) : null;
    const id = `${integrationId}-${workspaceId}`;
    const all = [
      ...(ofIntegration ? metersOf(leases, { scope: 'integration', id, organisationId }, ofIntegration) : []),
      ...(own ? metersOf(leases, { scope: 'provider', id: document.id, organisationId }, own) : []),
    ];
    // Budgets before rate limits.
    const meters = [...all.filter((one) => one.isBudget), ...all.filter((one) => !one.isBudget)];
    ofProvider.set(document, meters);
    return meters;
  }
}

const keysOf: Readonly<Record<'mcp_tools' | 'agents', readonly string[]>> = {
  mcp_tools: ['mcp_server', 'mcp_tool'],
  agents: ['agent_server'],
};

/** Tools and agents have no cost. A budget of requests without a target counts their calls if it names one of their keys. */
function countsCalls({ type, target, conditions, groupBy }: UsagePolicy, of: keyof typeof keysOf): boolean {
  if (target !== null) return target === of;
  const named = [...conditions.map(({ key }) => key), ...groupBy];
  return type === 'tokens' || (type === 'requests' && named.some((key) => keysOf[of].includes(key)));
}

/** Returns null if nothing is limited, which is the usual case. */
function limitsOf(
  usage: EntityLimits['usageLimits'] | EntityLimits['usageLimits'][number] | null | undefined,
  usageResetAt: string | null | undefined,
  rateLimits: EntityLimits['rateLimits'] | undefined,
): EntityLimits | null {
  const usageLimits = usage ? [usage].flat() : [];
  if (usageLimits.length === 0 && !rateLimits?.length) return null;
  return { usageLimits, usageResetAt: usageResetAt ?? null, rateLimits: rateLimits ?? [] };
}

/** True for requests that use no tokens: reading files, batches and models, managing stored resources, and counting tokens. */
function isFree({ endpoint, request }: RequestContext): boolean {
  // A session begins with a GET on any path.
  if (endpoint?.isRealtime || (request.webSocketProtocols ?? null) !== null) return false;
  return endpoint?.usesNoTokens === true || request.method === 'GET' || endpoint?.traffic === 'free';
}
