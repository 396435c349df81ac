import type { CoreHooks, CorePlugin } from '../contract/plugin/core-plugin.ts';
import { isPromise } from '../contract/values/json.ts';

/** Returns the plugin with an `onRequest` that adds its time to this field of `ctx.times`. */
export function timeStage(plugin: CorePlugin, field: 'limitsMs' | 'cacheMs'): CorePlugin {
  return {
    ...plugin,
    onConfig(config, scope, services) {
      const hooks = plugin.onConfig(config, scope, services);
      const onRequest = hooks?.onRequest?.bind(hooks);
      if (!onRequest) return hooks;
      return Object.assign(Object.create(hooks), {
        onRequest(ctx) {
          const beganAt = performance.now();
          const outcome = onRequest(ctx);
          if (!isPromise(outcome)) {
            ctx.times[field] += performance.now() - beganAt;
            return outcome;
          }
          return outcome.finally(() => {
            ctx.times[field] += performance.now() - beganAt;
          });
        },
      } satisfies Pick<CoreHooks, 'onRequest'>);
    },
  };
}
