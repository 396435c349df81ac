import * as v from 'valibot';
import type { GatewayConfig } from '../../contract/plugin/config/gateway-config.ts';
import type { CoreHooks, CorePlanScope, CorePlugin, CoreServices } from '../../contract/plugin/core-plugin.ts';
import type { JudgeHook, Plan, Target } from '../../contract/plugin/plan.ts';
import { stages } from '../../contract/plugin/plugin.ts';
import { headerParam } from '../../contract/protocol/header-names.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { issueText } from '../../contract/values/errors/input-issues.ts';
import { compileTargets } from './compile-targets.ts';
import { concealSecrets } from './conceal-secrets.ts';
import { onlyOwnRules, type ResolveRules } from './saved-guardrails.ts';

/** The plugins of a process in running order, with the hooks of those that do not depend on a config. */
export interface Chain {
  readonly plugins: readonly CorePlugin[];
  /** Hooks of the stages before a config is known, by plugin name. */
  readonly entryHooks: ReadonlyMap<string, CoreHooks | null>;
  /** Number of leading `onRequest` hooks that run before the body is read and the plan is known. */
  readonly beforeBody: number;
  readonly beforePlan: number;
}

const entryStages: ReadonlySet<string> = new Set(['record', 'auth', 'config']);

/**
 * Checks the plugin list once, at start: unique names, stages in order, `after` satisfied. Throws an Error naming the plugin
 * and the fix.
 */
export function checkOrder(plugins: readonly CorePlugin[]): readonly CorePlugin[] {
  const seen = new Set<string>();
  let stage = 0;
  for (const plugin of plugins) {
    const position = stages.indexOf(plugin.stage);
    if (seen.has(plugin.name))
      throw new Error(`plugin ${plugin.name}: another plugin, built in or of PLUGINS, has the same name; rename it`);
    if (position < stage)
      throw new Error(`plugin ${plugin.name}: stage ${plugin.stage} is listed after ${stages[stage]}; move it up in the list`);
    for (const name of plugin.after ?? []) {
      if (!seen.has(name))
        throw new Error(
          `plugin ${plugin.name}: after: no plugin ${name} runs before it; the order is that of stages, then built-in plugins, then PLUGINS`,
        );
    }
    seen.add(plugin.name);
    stage = position;
  }
  return plugins;
}

/** Adds third-party plugins after the built-in ones of their stage, in the order in which they were named. */
export function mergePlugins(builtIn: readonly CorePlugin[], added: readonly CorePlugin[]): CorePlugin[] {
  return stages.flatMap((stage) => [
    ...builtIn.filter((plugin) => plugin.stage === stage),
    ...added.filter((plugin) => plugin.stage === stage),
  ]);
}

/** Compiles what does not depend on any config. `services` may be completed afterwards; plugins only keep the reference. */
export function compileChain(plugins: readonly CorePlugin[], services: CoreServices): Chain {
  const ordered = checkOrder(plugins);
  const scope: CorePlanScope = { config: {}, targets: [], slug: null, stateKey: null };
  const entryHooks = new Map<string, CoreHooks | null>();
  let beforeBody = 0;
  let beforePlan = 0;
  for (const plugin of ordered) {
    if (!entryStages.has(plugin.stage)) continue;
    const hooks = plugin.onConfig(parseConfig(plugin, {}), scope, services);
    entryHooks.set(plugin.name, hooks);
    if (!hooks?.onRequest) continue;
    beforePlan++;
    if (plugin.stage !== 'config') beforeBody++;
  }
  return { plugins: ordered, entryHooks, beforeBody, beforePlan };
}

/**
 * Compiles one config to arrays of hooks and flat targets. A plugin that is idle for it, or lacks a hook, is in none of its
 * arrays. Throws GatewayError `invalid_config` naming the path of the rejected part.
 */
export function compilePlan(
  chain: Chain,
  services: CoreServices,
  source: { config: GatewayConfig; slug: string | null; versionId: string | null; stateKey?: string },
  resolveRules: ResolveRules = onlyOwnRules,
): Plan {
  const targets = compileTargets(source.config, services.settingNames, resolveRules);
  const config = concealSecrets(source.config, services.settingNames);
  const scope: CorePlanScope = { config, targets, slug: source.slug, stateKey: source.stateKey ?? null };
  const known = new Set(chain.plugins.map((plugin) => plugin.name));
  for (const name of Object.keys(source.config.plugins ?? {})) {
    if (!known.has(name)) throw invalidConfig([`plugins.${name}: no plugin of this name is installed`]);
  }
  const all: CoreHooks[] = [];
  const judges: JudgeHook[] = [];
  let readsReply = false;
  let readsBody = false;
  for (const plugin of chain.plugins) {
    const hooks = entryStages.has(plugin.stage)
      ? chain.entryHooks.get(plugin.name)
      : plugin.onConfig(parseConfig(plugin, source.config), scope, services);
    if (!hooks) continue;
    all.push(hooks);
    if (plugin.reads?.response === 'body') readsReply = true;
    if (hooks.onAttemptResponse) judges.push({ plugin: plugin.name, hook: hooks.onAttemptResponse.bind(hooks) });
    if (plugin.reads?.request === 'body' && !entryStages.has(plugin.stage)) readsBody = true;
  }
  const onTarget = pick(all, 'onTarget')[0];
  const movesOn = pick(all, 'movesOn')[0];
  if (!onTarget || !movesOn) {
    throw new Error('no plugin of the stage strategy has onTarget and movesOn; the chain cannot reach a provider');
  }
  return {
    slug: source.slug,
    versionId: source.versionId,
    config,
    targets,
    guardrailVersions: guardrailVersionsOf(targets),
    onStart: pick(all, 'onStart'),
    onRequest: pick(all, 'onRequest'),
    onTarget,
    movesOn,
    onExplain: pick(all, 'onExplain')[0] ?? null,
    onTargetStart: pick(all, 'onTargetStart'),
    onAttempt: pick(all, 'onAttempt'),
    onSend: pick(all, 'onSend').reverse(),
    // Requests go down the list, responses and replies come back up.
    onAttemptResponse: judges.reverse(),
    onProviderError: pick(all, 'onProviderError').reverse(),
    onOwnReply: pick(all, 'onOwnReply').reverse(),
    onReply: pick(all, 'onReply').reverse(),
    onChunk: pick(all, 'onChunk').reverse(),
    onError: pick(all, 'onError').reverse(),
    onBatch: pick(all, 'onBatch')[0] ?? null,
    onSessionMessage: pick(all, 'onSessionMessage')[0] ?? null,
    onToolCall: pick(all, 'onToolCall'),
    onSessionUsage: pick(all, 'onSessionUsage').reverse(),
    onSessionLook: pick(all, 'onSessionLook'),
    onCheckpoint: pick(all, 'onCheckpoint').reverse(),
    onEnd: pick(all, 'onEnd').reverse(),
    onClose: pick(all, 'onClose'),
    readsReply,
    holdsStream: pick(all, 'holdsStream'),
    onStreamEnd: pick(all, 'onStreamEnd'),
    readsBody,
    readsParams: all.some((hooks) => hooks.readsParams === true),
    readsUploads: all.some((hooks) => hooks.readsUploads === true),
    hasPrompts: targets.some(({ promptId }) => promptId !== null),
    readsAhead: targets.length > 1 || targets.some(({ cache }) => cache !== null),
    totalTimeMs: source.config.targets ? (source.config.retry?.max_total_time_ms ?? null) : null,
  };
}

function guardrailVersionsOf(targets: readonly Target[]): readonly string[] {
  const rules = targets.flatMap(({ guardrails: { start, input, output } }) => [...start, ...input, ...output]);
  return [...new Set(rules.flatMap(({ saved }) => saved?.versionId ?? []))];
}

/** Returns the error 400 for a config. Each text begins with the path of its field. */
export function invalidConfig(errors: readonly string[]): GatewayError {
  return new GatewayError('invalid_config', {
    message: `Invalid config passed: ${errors.join('; ')}`,
    errors,
    param: headerParam('config'),
  });
}

function parseConfig(plugin: CorePlugin, config: GatewayConfig): unknown {
  const result = v.safeParse(plugin.config, config.plugins?.[plugin.name]);
  if (result.success) return result.output;
  throw invalidConfig(result.issues.map((issue) => `plugins.${plugin.name}.${issueText(issue, 'config')}`));
}

function pick<Name extends Exclude<keyof CoreHooks, 'readsParams' | 'readsUploads'>>(
  all: readonly CoreHooks[],
  name: Name,
): NonNullable<CoreHooks[Name]>[] {
  const list: NonNullable<CoreHooks[Name]>[] = [];
  for (const hooks of all) {
    const hook = hooks[name];
    // Bound once here, so that hooks may be methods and the runner calls plain functions.
    if (hook) list.push(hook.bind(hooks) as NonNullable<CoreHooks[Name]>);
  }
  return list;
}
