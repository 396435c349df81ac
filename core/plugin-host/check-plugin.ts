import * as v from 'valibot';
import { didYouMean } from '../../config/did-you-mean.ts';
import { apiVersion, type Extension, hookNames, type Plugin, stages } from '../contract/plugin/plugin.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import { checksIssueOf } from './declared-checks.ts';
import { isAsynchronous, isValibot } from './json-schema.ts';
import { misspeltField } from './misspelt-field.ts';

const extensionFields = ['apiVersion', 'name', 'checks'] as const;
const hookFields = ['stage', 'after', 'reads', 'config', 'example', 'hookTimeoutMs', 'onConfig'] as const;
const pluginFields = [...extensionFields, ...hookFields];
const readFields = { request: ['head', 'body'], response: ['head', 'chunks', 'body'] } as const;

/**
 * Returns the error in the object that a module exports as its plugin, to be printed after the plugin's name. Null if there is
 * none.
 */
export function checkPlugin(plugin: unknown): string | null {
  if (typeof plugin !== 'object' || plugin === null) return 'exports no plugin: export it as `plugin` or as default';
  const { apiVersion: version, name, stage, config, onConfig, reads, after, hookTimeoutMs } = plugin as Partial<Plugin>;
  if (typeof name !== 'string') return 'has no name';
  if (!/^[a-z][a-z0-9-]*$/.test(name)) return `has the name ${JSON.stringify(name)}, expected kebab-case, such as my-plugin`;
  const issue = (text: string): string => `(${name}) ${text}`;
  const misspelt = misspeltField(plugin, pluginFields);
  if (version !== apiVersion && misspelt === null)
    return issue(
      version === undefined
        ? `has no apiVersion: add apiVersion: ${apiVersion}`
        : `has apiVersion ${JSON.stringify(version)}; this gateway supports apiVersion ${apiVersion}`,
    );
  const checksIssue = checksIssueOf(plugin as Extension);
  if (checksIssue !== null) return issue(checksIssue);
  if (!hasHooks(plugin as Extension) && misspelt === null) return null;
  if (stage === undefined && misspelt === null) return issue('has no stage');
  if (stage !== undefined && !stages.includes(stage))
    return issue(`stage: got ${JSON.stringify(stage)}, expected one of ${stages.join(', ')}${didYouMean(String(stage), stages)}`);
  if (config !== undefined && !isValibot(config))
    return issue('config: expected a valibot schema, or no such field if the plugin has no settings');
  const configIssue = config === undefined ? null : schemaIssueOf(config);
  if (configIssue !== null) return issue(`config: ${configIssue}`);
  if (misspelt !== null) return issue(hookOutside(plugin) ?? misspelt);
  if (typeof onConfig !== 'function') return issue('has no onConfig function');
  if (after !== undefined && !(Array.isArray(after) && after.every((each) => typeof each === 'string')))
    return issue('after: expected a list of plugin names');
  if (hookTimeoutMs !== undefined && !(Number.isInteger(hookTimeoutMs) && hookTimeoutMs >= 1 && hookTimeoutMs <= 600_000))
    return issue('hookTimeoutMs: expected a whole number of milliseconds from 1 to 600000');
  const readsIssue = checkReads(reads);
  return readsIssue === null ? null : issue(readsIssue);
}

/** Returns the error in the schema of the settings. */
function schemaIssueOf(config: NonNullable<Plugin['config']>): string | null {
  if (isAsynchronous(config)) return 'expected a synchronous schema; move asynchronous tests into a hook';
  try {
    if (v.safeParse(config, undefined).success) return null;
    return 'the schema rejects undefined, which it gets for each config that does not name the plugin: wrap it in v.optional';
  } catch (thrown) {
    return `the schema throws for undefined, which it gets for each config that does not name the plugin: ${messageOf(thrown)}`;
  }
}

/** Returns the error of a hook that is a field of the plugin. */
function hookOutside(plugin: object): string | null {
  const hook = hookNames.find((name) => name in plugin);
  return hook === undefined ? null : `${hook}: hooks are members of the object that onConfig returns`;
}

/** False for a plugin that only adds checks. */
export function hasHooks(plugin: Extension): plugin is Plugin {
  return plugin.checks === undefined || hookFields.some((name) => (plugin as Partial<Plugin>)[name] !== undefined);
}

/** Returns the error in the hooks that `onConfig` returned; null if there is none. */
export function checkHooks(hooks: unknown): string | null {
  if (typeof hooks !== 'object' || hooks === null) return `got ${typeof hooks}, expected an object of hooks or null`;
  if (typeof (hooks as { then?: unknown }).then === 'function') return 'got a promise: onConfig must be synchronous';
  const misspelt = misspeltField(hooks, hookNames);
  if (misspelt !== null) return misspelt;
  for (const name of hookNames) {
    const hook = (hooks as Record<string, unknown>)[name];
    if (hook !== undefined && hook !== null && typeof hook !== 'function')
      return `${name}: got ${typeof hook}, expected a function`;
  }
  return null;
}

function checkReads(reads: unknown): string | null {
  if (reads === undefined) return null;
  if (typeof reads !== 'object' || reads === null) return 'reads: expected an object';
  for (const [part, value] of Object.entries(reads)) {
    const allowed = Object.hasOwn(readFields, part) ? (readFields as Record<string, readonly string[]>)[part] : undefined;
    if (!allowed) return `reads.${part}: unknown field; use request and response`;
    if (!allowed.includes(String(value)))
      return `reads.${part}: got ${JSON.stringify(value)}, expected one of ${allowed.join(', ')}`;
  }
  return null;
}
