import * as v from 'valibot';
import { guardrailSides } from '../../plugin/guardrails/guardrail-config.ts';
import { hookNames, stages } from '../../plugin/plugin.ts';

/**
 * The third-party plugins and providers that a gateway has loaded, for the control plane, which loads none. `POST` with the cluster key as bearer and
 * `loadedPluginsQuestion` as body; 200 `loadedPluginsReply`.
 */
export const loadedPluginsPath = '/internal/v1/loaded-plugins';

/** Milliseconds within which a gateway must reply. */
export const loadedPluginsMs = 2_000;

export const loadedPluginsQuestion = v.object({});

export const loadedPlugin = v.strictObject({
  name: v.string(),
  /** Name of the package; null for a file. */
  package: v.nullable(v.string()),
  /** Version of the package. */
  version: v.nullable(v.string()),
  api_version: v.number(),
  /** Null if it has no hooks. */
  stage: v.nullable(v.picklist(stages)),
  /** Hooks for its example settings, or without settings if it has no example. */
  hooks: v.array(v.picklist(hookNames)),
  checks: v.array(v.strictObject({ id: v.string(), about: v.string(), sides: v.array(v.picklist(guardrailSides)) })),
});
export type LoadedPlugin = v.InferOutput<typeof loadedPlugin>;

export const loadedProvider = v.strictObject({
  id: v.string(),
  aliases: v.array(v.string()),
  /** As in a plugin. */
  package: v.nullable(v.string()),
  version: v.nullable(v.string()),
  /** Names of its settings, those of all providers included. */
  settings: v.array(v.string()),
});
export type LoadedProvider = v.InferOutput<typeof loadedProvider>;

export const loadedPluginsReply = v.object({
  plugins: v.array(loadedPlugin),
  providers: v.optional(v.array(loadedProvider), []),
});
