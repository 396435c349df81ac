import * as v from 'valibot';
import { vectorDimensionsMax } from '../../protocol/cached-replies.ts';
import type { SettingNames } from '../../provider/setting-names.ts';
import { issueTexts, listsReadAsObjects } from '../../values/errors/input-issues.ts';
import { headerValuePattern, notHeaderValue } from '../../values/http/http.ts';
import { pathKeys } from '../../values/json/path-keys.ts';
import { splitModelSlug } from '../../values/models/model-slug.ts';
import { hourMs } from '../../values/time/durations.ts';
import { guardrailEntries } from '../guardrails/guardrail-config.ts';
import { capacity, checkStrategy, type StrategyConfig, status, strategy } from './strategy-config.ts';

/**
 * The config language. A field that is not listed is rejected with its path, so every accepted setting has an effect.
 */
const retry = v.strictObject({
  attempts: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(5)),
  on_status_codes: v.optional(v.array(status)),
  use_retry_after_header: v.optional(v.boolean()),
  use_retry_after_headers: v.optional(v.boolean()),
  /** Time limit of one attempt until its reply begins (whole replies: until they are complete). */
  max_attempt_time_ms: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(hourMs))),
  /** Time limit of all attempts at a target with the pauses between them; on a root with targets, of all targets together. */
  max_total_time_ms: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(hourMs))),
});

const params = v.record(v.string(), v.unknown());
const slugPattern = /^@?[a-zA-Z0-9_.-]{1,255}$/;

const settingValue = v.union([v.pipe(v.string(), v.maxLength(2048)), v.boolean(), v.number()]);
/** A setting of config targets alone can be a table, such as `deployments`. The provider's own schema checks its rows. */
const configValue = v.union([
  settingValue,
  v.pipe(v.array(v.record(v.string(), settingValue)), v.minLength(1), v.maxLength(100)),
]);
// A service account may be given as the object it is in its file.
const secretValue = v.union([v.pipe(v.string(), v.minLength(1), v.maxLength(16_384)), v.record(v.string(), v.unknown())]);

const notPath = 'expected a path such as seed, tools[*].function.strict or metadata["x.y"]';
const headerSecretValue = v.pipe(v.string(), v.minLength(1), v.maxLength(16_384), v.regex(headerValuePattern, notHeaderValue));

const metadata = v.pipe(
  v.record(
    v.pipe(v.string(), v.minLength(1), v.maxLength(128)),
    v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String), v.maxLength(128)),
  ),
  v.check((labels) => Object.keys(labels).length <= 50, 'holds at most 50 keys'),
);

const cacheModes = ['simple', 'semantic', 'off'] as const;
const onlySemantic = 'is for mode semantic only. Set mode to semantic or remove it';

const cacheFields = v.pipe(
  v.strictObject({
    mode: v.picklist(cacheModes),
    /** Seconds: a minute to ninety days. */
    max_age: v.optional(v.pipe(v.number(), v.integer(), v.minValue(60), v.maxValue(7_776_000))),
    /** Least cosine similarity of a semantic hit. Has no effect below the minimum of the organisation. */
    threshold: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
    /** The stored provider and the model that compute embeddings, instead of those of the deployment. */
    embedding: v.optional(
      v.strictObject({
        provider: v.pipe(v.string(), v.regex(slugPattern)),
        model: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
        dimensions: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(vectorDimensionsMax))),
      }),
    ),
  }),
  v.forward(
    v.check(({ mode, threshold }) => mode === 'semantic' || threshold === undefined, onlySemantic),
    ['threshold'],
  ),
  v.forward(
    v.check(({ mode, embedding }) => mode === 'semantic' || embedding === undefined, onlySemantic),
    ['embedding'],
  ),
);
/** `simple` or `semantic` alone is short for its object. `off` excludes a target from the cache that its parent has. */
const cache = v.pipe(
  v.unknown(),
  v.transform((given): unknown => (typeof given === 'string' ? { mode: given } : given)),
  cacheFields,
);

const targetEntries = {
  name: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(255))),
  provider: v.optional(v.pipe(v.string(), v.regex(slugPattern))),
  virtual_key: v.optional(v.pipe(v.string(), v.regex(slugPattern))),
  api_key: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(8192), v.regex(headerValuePattern, notHeaderValue))),
  /** Share among its siblings under loadbalance; 0 = never. */
  weight: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1_000_000))),
  /** The load up to which priority_capacity chooses this target before its next sibling. */
  capacity: v.optional(capacity),
  /** A prompt (`pp-id`, `pp-id@12`, `pp-id@label`) that takes the place of the one in the path of a prompt completion. */
  prompt_id: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,255}(?:@[^@\s/]{1,255})?$/))),
  override_params: v.optional(params),
  default_params: v.optional(params),
  drop_params: v.optional(
    v.array(
      v.pipe(
        v.string(),
        v.minLength(1),
        v.maxLength(255),
        v.check((path) => pathKeys(path) !== null, notPath),
      ),
    ),
  ),
  retry: v.optional(retry),
  request_timeout: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(hourMs))),
  custom_host: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(2048))),
  forward_headers: v.optional(v.array(v.pipe(v.string(), v.regex(/^[a-zA-Z0-9-]{1,128}$/)))),
  strict_open_ai_compliance: v.optional(v.boolean()),
  /** Rejects parameters that the provider does not support instead of dropping them. */
  strict_params: v.optional(v.boolean()),
  /** Labels of requests to this target. The request's own value of a key takes precedence. */
  metadata: v.optional(metadata),
  /** The provider of the request is used. The parent's provider is not inherited. */
  passthrough: v.optional(v.boolean()),
  /** For a target of a fallback: the statuses after which the next target is tried. Replaces the strategy's. */
  on_status_codes: v.optional(v.array(status)),
  cache: v.optional(cache),
  ...guardrailEntries,
};

function optionalEntries<const Key extends string, Value extends v.GenericSchema>(keys: readonly Key[], schema: Value) {
  return Object.fromEntries(keys.map((key) => [key, v.optional(schema)])) as Record<Key, v.OptionalSchema<Value, undefined>>;
}

export type CacheConfig = v.InferOutput<typeof cacheFields>;
export type RetryConfig = v.InferOutput<typeof retry>;

export interface GatewayConfig extends v.InferOutput<v.StrictObjectSchema<typeof targetEntries, undefined>> {
  readonly strategy?: StrategyConfig;
  readonly targets?: GatewayConfig[];
  /** Root only: settings of third-party plugins by plugin name, each checked by the plugin's own schema. */
  readonly plugins?: Record<string, unknown>;
  /** Root only: `GET /models` lists the workspace's catalogue although providers are named. */
  readonly fetch_integrated_models?: boolean;
}

const schemas = new WeakMap<SettingNames, v.GenericSchema<unknown, GatewayConfig>>();

/** The schema of configs whose targets carry these provider settings. Built once for each object of names. */
function gatewayConfigSchema(names: SettingNames): v.GenericSchema<unknown, GatewayConfig> {
  const known = schemas.get(names);
  if (known) return known;
  const entries = {
    ...targetEntries,
    ...optionalEntries(names.settings, settingValue),
    ...optionalEntries(names.config, configValue),
    ...optionalEntries(names.secrets, secretValue),
    ...optionalEntries(names.headerSecrets, headerSecretValue),
    strategy: v.optional(strategy),
  };
  const target: v.GenericSchema<unknown, GatewayConfig> = v.strictObject({
    ...entries,
    targets: v.optional(v.pipe(v.array(v.lazy(() => target)), v.minLength(1))),
  });
  const root: v.GenericSchema<unknown, GatewayConfig> = v.strictObject({
    ...entries,
    targets: v.optional(v.pipe(v.array(target), v.minLength(1))),
    plugins: v.optional(v.record(v.string(), v.unknown())),
    fetch_integrated_models: v.optional(v.boolean()),
  });
  schemas.set(names, root);
  return root;
}

/** Provider settings of a config node by name; `SettingNames` lists the names. */
export function settingOf(node: GatewayConfig, name: string): unknown {
  return (node as Readonly<Record<string, unknown>>)[name];
}

/** Largest inline config in bytes, and deepest nesting of targets in any config. */
export const configLimits = { inlineBytes: 16_384, depth: 5, inlineTargets: 32 } as const;

/** Maximum targets of a config: at its root, at the root of a conditional one, and below any one target of the root. */
export interface TargetLimits {
  readonly rootTargetsMax: number;
  readonly conditionalRootTargetsMax: number;
  readonly nestedTargetsMax: number;
}

/** Limits used if the settings do not set any. */
export const targetLimitsDefault: TargetLimits = { rootTargetsMax: 100, conditionalRootTargetsMax: 1000, nestedTargetsMax: 50 };

/**
 * Returns the config that this build runs, or the list of what is wrong, one `path: message` per issue. Checks what a schema cannot:
 * a strategy needs targets, fields that only one mode acts on, limits. Targets without a strategy are those of `single`.
 */
export function parseGatewayConfig(
  input: unknown,
  names: SettingNames,
  limits: TargetLimits = targetLimitsDefault,
): { config: GatewayConfig } | { errors: string[] } {
  if (typeof input === 'object' && input !== null && 'options' in input)
    return { errors: ['options: version of config is not supported'] };
  const schema = gatewayConfigSchema(names);
  const result = v.safeParse(schema, input);
  if (!result.success) return { errors: issueTexts(result.issues, 'config', schema) };
  const errors = listsReadAsObjects(input, result.output, 'config');
  if (errors.length > 0) return { errors };
  const config = withStrategies(result.output);
  checkNode(config, '', 0, errors);
  checkRoot(config, limits, errors);
  return errors.length > 0 ? { errors } : { config };
}

function withStrategies(node: GatewayConfig): GatewayConfig {
  if (!node.targets) return node;
  return { ...node, strategy: node.strategy ?? { mode: 'single' }, targets: node.targets.map(withStrategies) };
}

function checkNode(node: GatewayConfig, path: string, depth: number, errors: string[]): void {
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
  if (depth > configLimits.depth) errors.push(`${path}: targets are nested deeper than ${configLimits.depth}`);
  const isAlone = node.strategy?.mode === 'single' && !node.targets;
  if (node.strategy && !node.targets && !isAlone) errors.push(`${at('targets')}: required when strategy is set`);
  if (node.strategy && (node.targets || isAlone)) checkStrategy(node.strategy, node.targets ?? [], at, errors);
  if (node.passthrough) checkPassthrough(node, at, errors);
  if (path !== '' && node.start_hooks && node.start_hooks.length > 0)
    errors.push(`${at('start_hooks')}: allowed at the root only, because they run before a target is chosen`);
  for (const [index, child] of (node.targets ?? []).entries()) checkNode(child, `${at('targets')}[${index}]`, depth + 1, errors);
}

/** The provider comes from the request alone. A setting that names or belongs to another provider contradicts this. */
function checkPassthrough(node: GatewayConfig, at: (key: string) => string, errors: string[]): void {
  const isRoot = at('') === '';
  const excluded = ['provider', 'virtual_key', 'api_key', 'custom_host', 'strategy', 'targets'] as const;
  for (const key of isRoot ? ([...excluded, 'override_params'] as const) : excluded) {
    if (node[key] !== undefined) errors.push(`${at(key)}: not allowed with passthrough, which uses the provider of the request`);
  }
  if (isRoot) return;
  const model = node.override_params?.model;
  if (typeof model === 'string' && splitModelSlug(model)) {
    errors.push(`${at('override_params.model')}: names a provider, but passthrough uses the provider of the request`);
  }
}

function checkRoot(root: GatewayConfig, limits: TargetLimits, errors: string[]): void {
  if (root.capacity) errors.push('capacity: allowed on targets of loadbalance only');
  const targets = root.targets ?? [];
  const most = root.strategy?.mode === 'conditional' ? limits.conditionalRootTargetsMax : limits.rootTargetsMax;
  if (targets.length > most) errors.push(`targets: expected at most ${most}, received ${targets.length}`);
  for (const [index, child] of targets.entries()) {
    const below = countBelow(child);
    if (below <= limits.nestedTargetsMax) continue;
    errors.push(`targets[${index}].targets: expected at most ${limits.nestedTargetsMax} nested targets, received ${below}`);
  }
}

function countBelow(node: GatewayConfig): number {
  return (node.targets ?? []).reduce((sum, child) => sum + 1 + countBelow(child), 0);
}
