import type { AuthKeys } from '../../plugins/auth/index.ts';
import { checks as builtInChecks } from '../../plugins/guardrails/checks/index.ts';
import * as builtIn from '../../plugins/index.ts';
import type { TargetLimits } from '../contract/plugin/config/gateway-config.ts';
import type { RequestContext } from '../contract/plugin/context.ts';
import type { CorePlugin, CoreServices } from '../contract/plugin/core-plugin.ts';
import type { AddedCheck } from '../contract/plugin/guardrails/plugin-check.ts';
import type { Slot } from '../contract/plugin/plugin.ts';
import type { CallProvider } from '../contract/plugin/services/provider-call.ts';
import { type Chain, compileChain, mergePlugins } from '../pipeline/plan/compile-plan.ts';
import { PlanStore } from '../pipeline/plan/plan-store.ts';
import type { OpenGuardrail } from '../pipeline/plan/saved-guardrails.ts';
import { createProviderCalls, type ProviderCalls } from '../pipeline/provider-calls.ts';
import { timePlugin, timeStage } from '../plugin-host/time-hooks.ts';
import { sortPlugins } from './sort-plugins.ts';

/** The services that the composition adds itself. */
type Added = 'slot' | 'callProvider';

export interface ChainParts {
  readonly services: Omit<CoreServices, Added>;
  readonly keys: AuthKeys;
  /** Third-party plugins, guarded. */
  readonly added: readonly CorePlugin[];
  /** Returns the checks of third-party plugins by id; absent: there are none. */
  readonly checks?: (services: CoreServices) => ReadonlyMap<string, AddedCheck>;
  readonly planEntriesMax: number;
  readonly limits?: TargetLimits;
  readonly openGuardrail: OpenGuardrail;
}

/** Makes the plugins of `plugins/index.ts` and returns them in running order. */
export function builtInPlugins(keys: AuthKeys): CorePlugin[] {
  const factories: readonly ((keys: AuthKeys) => CorePlugin)[] = Object.values(builtIn);
  return sortPlugins(factories.map((create) => timed(create(keys))));
}

/** Records show the times of limits and of the cache apart. */
function timed(plugin: CorePlugin): CorePlugin {
  if (plugin.name === 'limits') return timeStage(plugin, 'limitsMs');
  return plugin.name === 'cache' ? timeStage(plugin, 'cacheMs') : plugin;
}

/** Compiles the plugin chain of a gateway. Throws an Error that names the plugin and the fix. */
export function composeChain({ services: given, keys, added, checks, planEntriesMax, limits, openGuardrail }: ChainParts): {
  readonly services: CoreServices;
  readonly chain: Chain;
  readonly plans: PlanStore;
  readonly providerCalls: ProviderCalls;
} {
  const plans = new PlanStore(planEntriesMax, limits);
  let slots = 0;
  const slot = <T>(): Slot<T, RequestContext> => {
    const index = slots++;
    return {
      get: (ctx) => ctx.slots[index] as T | undefined,
      set(ctx, value) {
        ctx.slots[index] = value;
      },
    };
  };
  const callProvider: CallProvider = (call) => providerCalls.call(call);
  const withoutChecks = { ...given, slot, callProvider };
  const services: CoreServices = { ...withoutChecks, ...(checks ? { addedChecks: distinct(checks(withoutChecks)) } : {}) };
  const own = builtInPlugins(keys);
  const chain = compileChain(mergePlugins(own, added.map(timePlugin)), services);
  plans.start(chain, services, openGuardrail);
  const ownChain = compileChain(pluginsOfOwnCalls(own), services);
  const ownPlans = new PlanStore(1, limits);
  ownPlans.start(ownChain, services, openGuardrail);
  const providerCalls = createProviderCalls(ownChain, ownPlans);
  return { services, chain, plans, providerCalls };
}

/** Returns the same checks. Throws an Error if one has the id of a built-in check. */
function distinct(added: ReadonlyMap<string, AddedCheck>): ReadonlyMap<string, AddedCheck> {
  for (const id of added.keys()) {
    if (builtInChecks.has(id)) throw new Error(`PLUGINS: the check ${id} is a built-in check; rename the plugin or the check`);
  }
  return added;
}

/** The plugins for calls that the gateway itself makes. Their caller is known, so that the plugins before them in the chain are left out. */
function pluginsOfOwnCalls(plugins: readonly CorePlugin[]): CorePlugin[] {
  return plugins.filter(({ name }) => ownCallPlugins.has(name)).map((plugin) => ({ ...plugin, after: [] }));
}

const ownCallPlugins: ReadonlySet<string> = new Set(['record', 'limits', 'strategies']);
