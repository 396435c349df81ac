import type { RequestContext } from '../contract/plugin/context.ts';
import type { CoreHooks, CorePlugin } from '../contract/plugin/core-plugin.ts';
import { type HookName, hookNames } from '../contract/plugin/plugin.ts';
import type { PluginTime } from '../contract/plugin/record/plugin-time.ts';
import { isPromise } from '../contract/values/maybe.ts';

/** Returns the same plugin, whose hooks add the time of their calls to `ctx.pluginTimes`. */
export function timePlugin(plugin: CorePlugin): CorePlugin {
  // onClose belongs to no request.
  const timed = hookNames.filter((name) => name !== 'onClose');
  return timeHooks(plugin, timed, (hook) => (ctx, ms) => addTime(ctx, plugin.name, hook, ms));
}

/** Returns the same plugin, whose `onRequest` adds its time to this field of `ctx.times`. */
export function timeStage(plugin: CorePlugin, field: 'limitsMs' | 'cacheMs'): CorePlugin {
  return timeHooks(plugin, ['onRequest'], () => (ctx, ms) => {
    ctx.times[field] += ms;
  });
}

type AddTime = (ctx: RequestContext, ms: number) => void;

function timeHooks(plugin: CorePlugin, names: readonly HookName[], adderOf: (hook: HookName) => AddTime): CorePlugin {
  return {
    ...plugin,
    onConfig(config, scope, services) {
      const hooks = plugin.onConfig(config, scope, services);
      if (hooks === null) return null;
      const timed: Partial<Record<HookName, unknown>> = {};
      for (const name of names) {
        const hook = hooks[name];
        if (hook) timed[name] = timeHook(hook.bind(hooks) as AnyHook, adderOf(name));
      }
      return Object.assign(Object.create(hooks) as CoreHooks, timed);
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: hooks of all kinds are timed alike, each with arguments of its own
type AnyHook = (ctx: RequestContext, second?: any, third?: any) => unknown;

function timeHook(call: AnyHook, add: AddTime): AnyHook {
  return (ctx, second, third) => {
    // Services.clock is read once per turn of the event loop: a synchronous hook would take no time.
    const beganMs = performance.now();
    let isPending = false;
    try {
      const result = call(ctx, second, third);
      if (!isPromise(result)) return result;
      isPending = true;
      return result.finally(() => add(ctx, performance.now() - beganMs));
    } finally {
      if (!isPending) add(ctx, performance.now() - beganMs);
    }
  };
}

function addTime(ctx: RequestContext, plugin: string, hook: HookName, ms: number): void {
  ctx.pluginTimes ??= [];
  let time = ctx.pluginTimes.find((each) => each.plugin === plugin && each.hook === hook);
  if (!time) {
    time = { plugin, hook, calls: 0, durationMs: 0 };
    ctx.pluginTimes.push(time);
  }
  (time as Writable).calls += 1;
  (time as Writable).durationMs += ms;
}

type Writable = { -readonly [Key in keyof PluginTime]: PluginTime[Key] };
