import type { AuthKeys } from '../../plugins/auth/index.ts';
import * as builtIn from '../../plugins/index.ts';
import type { CorePlugin, CoreServices } from '../contract/plugin/core-plugin.ts';
import type { TargetLimits } from '../contract/plugin/gateway-config.ts';
import type { Slot } from '../contract/plugin/plugin.ts';
import { type Chain, compileChain, mergePlugins } from '../pipeline/plan/compile-plan.ts';
import { PlanStore } from '../pipeline/plan/plan-store.ts';
import { sortPlugins } from './order-plugins.ts';

/** The services that the composition adds itself. */
type Added = 'newSlot' | 'slot';

export interface ChainParts {
  readonly services: Omit<CoreServices, Added>;
  readonly keys: AuthKeys;
  /** Third-party plugins, guarded. */
  readonly added: readonly CorePlugin[];
  readonly planEntriesMax: number;
  readonly limits?: TargetLimits;
}

/** Makes the plugins of `plugins/index.ts` and returns them in running order. */
export function builtInPlugins(keys: AuthKeys): CorePlugin[] {
  const factories: readonly ((keys: AuthKeys) => CorePlugin)[] = Object.values(builtIn);
  return sortPlugins(factories.map((create) => create(keys)));
}

/** Compiles the plugin chain of a gateway. Throws an Error that names the plugin and the fix. */
export function composeChain({ services: given, keys, added, planEntriesMax, limits }: ChainParts): {
  readonly services: CoreServices;
  readonly chain: Chain;
  readonly plans: PlanStore;
} {
  const plans = new PlanStore(planEntriesMax, limits);
  let slots = 0;
  const newSlot = (): number => slots++;
  const slot = <T>(): Slot<T> => {
    const index = newSlot();
    return {
      get: (ctx) => ctx.slots[index] as T | undefined,
      set(ctx, value) {
        ctx.slots[index] = value;
      },
    };
  };
  const services: CoreServices = { ...given, newSlot, slot };
  const chain = compileChain(mergePlugins(builtInPlugins(keys), added), services);
  plans.start(chain, services);
  return { services, chain, plans };
}
