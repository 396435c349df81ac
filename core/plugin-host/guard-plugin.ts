import * as v from 'valibot';
import type { RequestContext } from '../contract/plugin/context.ts';
import type { CoreHooks, CorePlugin, CoreServices } from '../contract/plugin/core-plugin.ts';
import type { Plan, Target } from '../contract/plugin/plan.ts';
import { type HookName, type Hooks, hookNames, type Plugin, type Reply } from '../contract/plugin/plugin.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { failureOf } from '../contract/values/errors/stack-of.ts';
import { isPromise } from '../contract/values/maybe.ts';
import { checkHooks } from './check-plugin.ts';
import { type HiddenNames, hiddenNames } from './hidden-names.ts';
import { checkHead, readChunk, readHeaders, readReply, readReplyOrDenial, readVerdict } from './hook-results.ts';
import { publicServices } from './public-services.ts';
import { changedParamsOf, targetView, viewOf } from './request-view.ts';
import { requireJson } from './require-json.ts';
import { withinTime } from './within-time.ts';

/**
 * Returns the plugin with every hook checked. A result that the contract does not allow, an exception and a promise that takes
 * too long end the request with an error that names the plugin and the hook. Built-in plugins are not guarded, so they have no
 * overhead.
 */
export function guardPlugin(plugin: Plugin, options: { readonly hookTimeoutMs: number }): CorePlugin {
  return {
    name: plugin.name,
    stage: plugin.stage,
    config: plugin.config ? guardSchema(plugin.name, plugin.config) : noSettings,
    ...(plugin.after ? { after: plugin.after } : {}),
    ...(plugin.reads ? { reads: plugin.reads } : {}),
    ...(plugin.example === undefined ? {} : { example: plugin.example }),
    onConfig(config, scope, services) {
      const { slug, stateKey, targets } = scope;
      const visible = { slug, stateKey, targets: targets.map(targetView) };
      const hooks = callOnConfig(plugin, config, visible, publicServices(services));
      if (hooks === null || hooks === undefined) return null;
      const issue = checkHooks(hooks);
      if (issue !== null) throw failure(plugin.name, 'onConfig', issue);
      return guardHooks(plugin.name, hooks, plugin.hookTimeoutMs ?? options.hookTimeoutMs, services);
    },
  };
}

/** Settings of a plugin without a schema. */
const noSettings = v.optional(v.strictObject({}));

/** Returns the schema. An exception in it becomes a failure of the plugin, since valibot does not catch those of `v.transform` and `v.check`. */
function guardSchema(plugin: string, schema: v.GenericSchema): v.GenericSchema {
  return {
    ...schema,
    '~run'(dataset, config) {
      try {
        return schema['~run'](dataset, config);
      } catch (thrown) {
        throw named(plugin, 'config', thrown);
      }
    },
  };
}

function callOnConfig(plugin: Plugin, ...given: Parameters<Plugin['onConfig']>): Hooks | null {
  try {
    return plugin.onConfig(...given);
  } catch (thrown) {
    throw named(plugin.name, 'onConfig', thrown);
  }
}

function guardHooks(plugin: string, hooks: Hooks, timeoutMs: number, services: CoreServices): CoreHooks {
  const hidden = hiddenNames(services.settingNames, services.headerPrefixes ?? ['x-svc-']);
  const guarded: Partial<Record<HookName, unknown>> = {};
  for (const name of hookNames) {
    const hook = hooks[name];
    if (!hook) continue;
    const seeing = withViews(name, hook.bind(hooks) as AnyHook, hidden);
    guarded[name] = guards[name](seeing, { plugin, name, timeoutMs, services });
  }
  return guarded as CoreHooks;
}

/** Returns the hook, which gets what plugins see of a request and of a target. */
function withViews(name: HookName, hook: AnyHook, hidden: HiddenNames): AnyHook {
  switch (name) {
    case 'onClose':
      return hook;
    case 'onAttempt':
      return (ctx: RequestContext, target: Target) => hook(viewOf(ctx, hidden), targetView(target));
    case 'onAttemptResponse':
      return (ctx: RequestContext, response: unknown, target: Target) => hook(viewOf(ctx, hidden), response, targetView(target));
    default:
      return (ctx: RequestContext, given: unknown) => hook(viewOf(ctx, hidden), given);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: hooks of all kinds go through the same guard, each with arguments of its own
type AnyHook = (...given: any[]) => unknown;

interface GuardedHook {
  readonly plugin: string;
  readonly name: HookName;
  readonly timeoutMs: number;
  readonly services: CoreServices;
}

const guards: Record<HookName, (hook: AnyHook, of: GuardedHook) => AnyHook> = {
  onRequest: asynchronous(readReply),
  onAttempt: asynchronous(readReplyOrDenial),
  onAttemptResponse: asynchronous((result, _, { plugin, name }) => {
    const verdict = readVerdict(result);
    return verdict?.action === 'fail' ? { ...verdict, error: named(plugin, name, verdict.error) } : verdict;
  }),
  onReply: asynchronous((result, [, head]) => {
    checkHead(head as Parameters<typeof checkHead>[0]);
    return readReply(result);
  }),
  onOwnReply: synchronous((result, [, given]) => {
    const reply = readReply(result);
    // A changed denial stays one in the record.
    return reply && { ...(given as Reply), ...reply };
  }),
  onError: asynchronous(readReply),
  onChunk: synchronous(readChunk),
  onEnd: synchronous(ignored),
  onClose: synchronous(ignored),
};

/** Returns the result of a hook in the form that the gateway continues with. Throws if the contract does not allow it. */
type Read = (result: unknown, given: readonly unknown[], of: GuardedHook) => unknown;

/** Guards a hook whose result may be a promise. */
function asynchronous(read: Read) {
  return (hook: AnyHook, of: GuardedHook): AnyHook =>
    (ctx: RequestContext, ...more: unknown[]) => {
      const given = [ctx, ...more];
      try {
        const result = hook(ctx, ...more);
        return isPromise(result) ? inTime(result, ctx, given, of, read) : checked(read, result, given, of);
      } catch (thrown) {
        throw named(of.plugin, of.name, thrown);
      }
    };
}

/** Guards a synchronous hook. A promise is malformed. Its rejection is logged, not left unhandled. */
function synchronous(read: Read) {
  return (hook: AnyHook, of: GuardedHook): AnyHook =>
    (...given: unknown[]) => {
      try {
        const result = hook(...given);
        if (isPromise(result)) {
          const fields = { plugin: of.plugin, hook: of.name };
          result.then(undefined, (thrown: unknown) =>
            of.services.log.error({ ...fields, ...failureOf(thrown) }, 'a synchronous hook returned a promise that was rejected'),
          );
          if (read !== ignored) throw new Error('returned a promise, but this hook is synchronous');
        }
        return checked(read, result, given, of);
      } catch (thrown) {
        throw named(of.plugin, of.name, thrown);
      }
    };
}

function checked(read: Read, result: unknown, given: readonly unknown[], of: GuardedHook): unknown {
  const ctx = given[0] as RequestContext | undefined;
  checkReplyHeaders(ctx);
  const changed = ctx?.pluginView ? changedParamsOf(ctx.pluginView) : null;
  if (changed !== null) requireJson('ctx.params', changed);
  return read(result, given, of);
}

/**
 * Checks headers that a hook added to every reply of the request. A malformed list is emptied, because every later reply would
 * carry it.
 */
function checkReplyHeaders(ctx: RequestContext | undefined): void {
  if (!ctx?.replyHeaders || ctx.replyHeaders.length === 0) return;
  try {
    readHeaders('ctx.replyHeaders', ctx.replyHeaders);
  } catch (thrown) {
    ctx.replyHeaders.length = 0;
    throw thrown;
  }
}

/** Settles as the hook's promise does, or rejects when the time of the hook or of the request is over. */
function inTime(
  pending: PromiseLike<unknown>,
  ctx: RequestContext,
  given: readonly unknown[],
  of: GuardedHook,
  read: Read,
): Promise<unknown> {
  const requestMs = of.name === 'onRequest' ? remainingMs(ctx, of.services) : timeoutOf(ctx);
  const ofRequest = requestMs !== null && requestMs < of.timeoutMs;
  const late = (): GatewayError =>
    ofRequest ? requestTimedOut(ctx, of) : failure(of.plugin, of.name, `no result within ${of.timeoutMs} ms`);
  return withinTime(pending, ofRequest ? Math.max(1, requestMs) : of.timeoutMs, late)
    .then((result) => checked(read, result, given, of))
    .catch((thrown: unknown) => {
      throw named(of.plugin, of.name, thrown);
    });
}

/** Returns the rest of the request's own timeout before a provider is called. */
function remainingMs(ctx: RequestContext, services: CoreServices): number | null {
  const totalMs = timeoutOf(ctx);
  return totalMs === null ? null : totalMs - (services.clock.elapsed() - ctx.startedAtMs);
}

/** Returns the timeout of the request's header, otherwise the one that all targets of its config share; null if there is none. */
function timeoutOf(ctx: RequestContext): number | null {
  return ctx.requestTarget?.timeoutMs ?? timeoutOfPlan(ctx.plan);
}

function timeoutOfPlan({ targets }: Plan): number | null {
  let longestMs: number | null = null;
  for (const { timeoutMs } of targets) {
    if (timeoutMs === null) return null;
    longestMs = Math.max(longestMs ?? 0, timeoutMs);
  }
  return longestMs;
}

function requestTimedOut(ctx: RequestContext, of: GuardedHook): GatewayError {
  return new GatewayError('request_timeout', {
    message: `Request exceeded the timeout sent in the request: ${timeoutOf(ctx)}ms`,
    detail: `plugin ${of.plugin}, ${of.name}: no result in time`,
  });
}

/** Hooks whose exceptions are only logged. */
const loggedHooks: ReadonlySet<string> = new Set<HookName>(['onError', 'onEnd', 'onClose']);

/** Returns a refusal of any copy of the package unchanged, except one that is only logged. Every other error becomes a failure of this plugin. */
function named(plugin: string, hook: string, thrown: unknown): GatewayError {
  const error = toGatewayError(thrown);
  if (error.detail?.startsWith('plugin ')) return error;
  if (error.code !== 'internal' && !loggedHooks.has(hook)) return error;
  return failure(plugin, hook, error.detail ?? error.message, error.cause ?? error);
}

function failure(plugin: string, hook: string, reason: string, cause?: unknown): GatewayError {
  return new GatewayError('internal', {
    message: `Something went wrong in the plugin ${plugin}`,
    detail: `plugin ${plugin}, ${hook}: ${reason}`,
    cause,
  });
}

function ignored(): undefined {
  return undefined;
}
