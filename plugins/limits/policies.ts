import type { Leases } from '../../core/contract/protocol/limits/leases.ts';
import type { RatePolicy, UsagePolicy, WorkspacePoliciesDocument } from '../../core/contract/protocol/limits/policies.ts';
import { type Meter, ratePolicyMeter, usagePolicyMeter } from './meters.ts';
import { PolicyIndex } from './policy-index.ts';
import { compileCondition, compileGroup } from './policy-matcher.ts';
import { type ModelLocations, modelsBeside, type PolicyCall } from './policy-values.ts';

/** Maximum number of meters of a policy in memory, one per counter. Beyond this number they are created again when they are needed. */
const metersMax = 10_000;

/** The policies of one workspace, compiled from one version of its document. */
export class WorkspacePolicies {
  readonly #index: PolicyIndex<CompiledPolicy>;
  readonly #readsModels: boolean;
  readonly #locations: ModelLocations;

  constructor(leases: Leases, document: WorkspacePoliciesDocument, locations: ModelLocations) {
    this.#locations = locations;
    const { organisationId } = document;
    const usage = document.usage.map((policy) => {
      const meterOf = (valueKey: string) => usagePolicyMeter(leases, organisationId, policy, valueKey);
      return [policy, new CompiledPolicy(policy, meterOf)] as const;
    });
    const rate = document.rate.map((policy) => {
      const meterOf = (valueKey: string) => ratePolicyMeter(leases, organisationId, policy, valueKey);
      return [policy, new CompiledPolicy(policy, meterOf)] as const;
    });
    this.#index = new PolicyIndex([...usage, ...rate]);
    this.#readsModels = [...document.usage, ...document.rate].some(
      ({ conditions, groupBy }) => groupBy.includes('model') || conditions.some(({ key }) => key === 'model'),
    );
  }

  /** Returns the counters that a call counts in. It counts for each model that its provider may call. */
  metersOf(call: PolicyCall): Meter[] {
    const meters = this.#metersOf(call);
    const beside = this.#readsModels && call.target !== null ? modelsBeside(call.ctx, this.#locations) : [];
    return beside.length === 0
      ? meters
      : [...new Set([...meters, ...beside.flatMap((model) => this.#metersOf({ ...call, model }))])];
  }

  #metersOf(call: PolicyCall): Meter[] {
    const budgets: Meter[] = [];
    const rates: Meter[] = [];
    this.#index.visit(call, (policy) => {
      const meter = policy.meterOf(call);
      if (meter !== null) (meter.isBudget ? budgets : rates).push(meter);
    });
    return rates.length === 0 ? budgets : [...budgets, ...rates];
  }
}

/** One policy. It is compiled when the index first finds it: most policies of a large workspace never apply in one process. */
class CompiledPolicy {
  readonly #policy: UsagePolicy | RatePolicy;
  readonly #newMeter: (valueKey: string) => Meter;
  #rules: Rules | null = null;

  constructor(policy: UsagePolicy | RatePolicy, newMeter: (valueKey: string) => Meter) {
    this.#policy = policy;
    this.#newMeter = newMeter;
  }

  /** Returns the counter of a call; null if a condition or a value of the group is missing. */
  meterOf(call: PolicyCall): Meter | null {
    this.#rules ??= compile(this.#policy);
    const { matchers, valueKeyOf, meters } = this.#rules;
    for (const matches of matchers) if (!matches(call)) return null;
    const valueKey = valueKeyOf(call);
    if (valueKey === null) return null;
    let meter = meters.get(valueKey);
    if (!meter) {
      if (meters.size >= metersMax) meters.clear();
      meter = this.#newMeter(valueKey);
      meters.set(valueKey, meter);
    }
    return meter;
  }
}

interface Rules {
  readonly matchers: readonly ReturnType<typeof compileCondition>[];
  readonly valueKeyOf: ReturnType<typeof compileGroup>;
  readonly meters: Map<string, Meter>;
}

function compile({ conditions, groupBy }: UsagePolicy | RatePolicy): Rules {
  return { matchers: conditions.map(compileCondition), valueKeyOf: compileGroup(groupBy), meters: new Map() };
}
