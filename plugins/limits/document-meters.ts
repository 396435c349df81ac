import type { Identity, RequestContext } from '../../core/contract/plugin/context.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import type { EntityLimits } from '../../core/contract/plugin/requests/entity-limits.ts';
import type { ProviderDocument, WorkspaceDocument } from '../../core/contract/protocol/documents.ts';
import type { Leases } from '../../core/contract/protocol/limits/leases.ts';
import type { UsagePolicy, WorkspacePoliciesDocument } from '../../core/contract/protocol/limits/policies.ts';
import { type Meter, metersOf } from './meters.ts';
import { WorkspacePolicies } from './policies.ts';
import type { ModelLocations } from './policy-values.ts';

const none: readonly Meter[] = [];

/** The meters of documents. Each document is one object until it changes, so that its meters are made once. */
export class DocumentMeters {
  readonly #leases: Leases;
  readonly #locations: ModelLocations;
  readonly #ofCaller = new WeakMap<Identity, { workspace: WorkspaceDocument | null; meters: readonly Meter[] }>();
  readonly #ofProvider = new WeakMap<ProviderDocument, readonly Meter[]>();
  readonly #modelPolicies = new WeakMap<WorkspacePoliciesDocument, WorkspacePolicies>();
  readonly #toolPolicies = new WeakMap<WorkspacePoliciesDocument, WorkspacePolicies>();
  readonly #agentPolicies = new WeakMap<WorkspacePoliciesDocument, WorkspacePolicies>();

  constructor(leases: Leases, locations: ModelLocations) {
    this.#leases = leases;
    this.#locations = locations;
  }

  /** Returns the meters of key and workspace: the budgets of both, then the rate limits of workspace and key. */
  ofCaller(identity: Identity, workspace: WorkspaceDocument | null): readonly Meter[] {
    const known = this.#ofCaller.get(identity);
    if (known && known.workspace === workspace) return known.meters;
    const { keyId, organisationId, limits } = identity;
    const key = limits ? metersOf(this.#leases, { scope: 'key', id: keyId, organisationId }, limits) : [];
    const own = workspace ? limitsOf(workspace.usageLimits, null, workspace.rateLimits) : null;
    const shared = own && workspace ? metersOf(this.#leases, { scope: 'workspace', id: workspace.id, organisationId }, own) : [];
    const all = [...key.filter((one) => one.isBudget), ...shared, ...key.filter((one) => !one.isBudget)];
    const meters = all.length === 0 ? none : all;
    this.#ofCaller.set(identity, { workspace, meters });
    return meters;
  }

  /** Returns the meters of a provider and its integration, budgets first. */
  ofProvider(document: ProviderDocument): readonly Meter[] {
    const known = this.#ofProvider.get(document);
    if (known) return known;
    const { organisationId, workspaceId, integrationId, integrationLimits: shared } = document;
    const own = limitsOf(document.usageLimits, document.usageResetAt, document.rateLimits);
    const ofIntegration = shared ? limitsOf(shared.usageLimits, shared.usageResetAt, shared.rateLimits) : null;
    const id = `${integrationId}-${workspaceId}`;
    const all = [
      ...(ofIntegration ? metersOf(this.#leases, { scope: 'integration', id, organisationId }, ofIntegration) : []),
      ...(own ? metersOf(this.#leases, { scope: 'provider', id: document.id, organisationId }, own) : []),
    ];
    const meters = [...all.filter((one) => one.isBudget), ...all.filter((one) => !one.isBudget)];
    this.#ofProvider.set(document, meters);
    return meters;
  }

  /** Returns the meters of the policies that a call to this target counts in. */
  ofPolicies(
    document: WorkspacePoliciesDocument,
    ctx: RequestContext,
    target: Target,
    provider: ProviderDocument | null,
  ): readonly Meter[] {
    let policies = this.#modelPolicies.get(document);
    if (!policies) {
      const usage = document.usage.filter(({ target }) => target === null || target === 'llm');
      policies = new WorkspacePolicies(this.#leases, { ...document, usage }, this.#locations);
      this.#modelPolicies.set(document, policies);
    }
    const meters = policies.metersOf({ ctx, target, providerId: provider?.id ?? null });
    // A call by the gateway costs the caller money, but is no request of the caller.
    return ctx.purpose === null ? meters : meters.filter((meter) => meter.isBudget && meter.unit !== 'requests');
  }

  /** Returns the meters of the policies that a call of a tool or a message to an agent counts in. */
  ofToolPolicies(document: WorkspacePoliciesDocument, ctx: RequestContext): readonly Meter[] {
    const known = ctx.agent === null ? this.#toolPolicies : this.#agentPolicies;
    let policies = known.get(document);
    if (!policies) {
      const usage = document.usage.filter((policy) => countsCalls(policy, ctx.agent === null ? 'mcp_tools' : 'agents'));
      const rate = ctx.agent === null ? document.toolRate : document.agentRate;
      policies = new WorkspacePolicies(this.#leases, { ...document, usage, rate }, this.#locations);
      known.set(document, policies);
    }
    return policies.metersOf({ ctx, target: null, providerId: null });
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
