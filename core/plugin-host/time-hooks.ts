import type { RequestContext } from '../contract/plugin/context.ts';
import type { CoreHooks, CorePlugin } from '../contract/plugin/core-plugin.ts';
import { type HookName, hookNames } from '../contract/plugin/plugin.ts';
import type { PluginTime } from '../contract/plugin/plugin-time.ts';
import { isPromise } from '../contract/values/json.ts';

/** Returns the same plugin, whose hooks add the time of their calls to `ctx.pluginTimes`. */
export function timePlugin(plugin: CorePlugin): CorePlugin {
  return {
    ...plugin,
    onConfig(config, scope, services) {
      const hooks = plugin.onConfig(config, scope, services);
      if (hooks === null) return null;
      const timed: Partial<Record<HookName, unknown>> = {};
      for (const name of hookNames) {
        const hook = hooks[name];
        // onClose belongs to no request.
        if (hook && name !== 'onClose') timed[name] = timeHook(plugin.name, name, hook.bind(hooks) as AnyHook);
      }
      return Object.assign(Object.create(hooks) as CoreHooks, timed);
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: hooks of all kinds are timed alike, each with arguments of its own
type AnyHook = (ctx: RequestContext, second?: any, third?: any) => unknown;

function timeHook(plugin: string, hook: HookName, call: AnyHook): AnyHook {
  const add = (ctx: RequestContext, beganMs: number): void => {
    ctx.pluginTimes ??= [];
    let time = ctx.pluginTimes.find((each) => each.plugin === plugin && each.hook === hook);
    if (!time) {
      time = { plugin, hook, calls: 0, durationMs: 0 };
      ctx.pluginTimes.push(time);
    }
    (time as Writable).calls += 1;
    (time as Writable).durationMs += performance.now() - beganMs;
  };
  return (ctx, second, third) => {
    // Services.clock is read once per turn of the event loop: a synchronous hook would take no time.
    const beganMs = performance.now();
    let isPending = false;
    try {
      const result = call(ctx, second, third);
      if (!isPromise(result)) return result;
      isPending = true;
      return result.finally(() => add(ctx, beganMs));
    } finally {
      if (!isPending) add(ctx, beganMs);
    }
  };
}

type Writable = { -readonly [Key in keyof PluginTime]: PluginTime[Key] };
