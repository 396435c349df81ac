import * as v from 'valibot';
import { providerSecretKeys, providerSettingKeys, providerTargetKeys } from './provider-settings.ts';
import { capacity, checkStrategy, type StrategyConfig, status, strategy } from './strategy-config.ts';

/**
 * The config language of data-plane §4.2, as far as this build acts on it. What is not listed is refused with its path:
 * a setting that is accepted is a setting that works.
 */
const retry = v.strictObject({
  attempts: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(5)),
  on_status_codes: v.optional(v.array(status)),
  use_retry_after_header: v.optional(v.boolean()),
  use_retry_after_headers: v.optional(v.boolean()),
  /** How long one try may take until its reply begins (whole replies: until they are there). */
  max_attempt_time_ms: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3_600_000))),
  /** The same for all tries at a target with the waits between them; of a root with targets, for all targets together. */
  max_total_time_ms: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3_600_000))),
});

const params = v.record(v.string(), v.unknown());
const slugPattern = /^@?[a-zA-Z0-9_.-]{1,255}$/;

const settingValue = v.union([v.pipe(v.string(), v.maxLength(2048)), v.boolean(), v.number()]);
// A service account may be given as the object it is in its file.
const secretValue = v.union([v.pipe(v.string(), v.minLength(1), v.maxLength(16_384)), v.record(v.string(), v.unknown())]);

const targetEntries = {
  name: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(255))),
  provider: v.optional(v.pipe(v.string(), v.regex(slugPattern))),
  virtual_key: v.optional(v.pipe(v.string(), v.regex(slugPattern))),
  api_key: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(8192))),
  /** Share among its siblings under loadbalance; 0 = never. */
  weight: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1_000_000))),
  /** How much it takes before priority_capacity goes on to its next sibling. */
  capacity: v.optional(capacity),
  override_params: v.optional(params),
  default_params: v.optional(params),
  drop_params: v.optional(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(255)))),
  retry: v.optional(retry),
  request_timeout: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3_600_000))),
  custom_host: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(2048))),
  forward_headers: v.optional(v.array(v.pipe(v.string(), v.regex(/^[a-zA-Z0-9-]{1,128}$/)))),
  strict_open_ai_compliance: v.optional(v.boolean()),
  ...optionalEntries(providerSettingKeys, settingValue),
  ...optionalEntries(providerTargetKeys, settingValue),
  /** Alias table of azure-openai; its rows are checked by the provider's own schema. */
  deployments: v.optional(v.pipe(v.array(v.record(v.string(), settingValue)), v.minLength(1), v.maxLength(100))),
  ...optionalEntries(providerSecretKeys, secretValue),
};

function optionalEntries<const Key extends string, Value extends v.GenericSchema>(keys: readonly Key[], schema: Value) {
  return Object.fromEntries(keys.map((key) => [key, v.optional(schema)])) as Record<Key, v.OptionalSchema<Value, undefined>>;
}

export type RetryConfig = v.InferOutput<typeof retry>;

export interface GatewayConfig extends v.InferOutput<v.StrictObjectSchema<typeof targetEntries, undefined>> {
  readonly strategy?: StrategyConfig;
  readonly targets?: GatewayConfig[];
  /** Root only: settings of third-party plugins by plugin name, each checked by the plugin's own schema. */
  readonly plugins?: Record<string, unknown>;
  /** Root only. */
  /** Root only: `GET /models` answers from the workspace's catalogue although providers are named. */
  readonly fetch_integrated_models?: boolean;
  readonly cache?: { readonly mode: 'simple'; readonly max_age?: number };
}

const cache = v.strictObject({
  mode: v.picklist(['simple']),
  /** Seconds: a minute to ninety days. */
  max_age: v.optional(v.pipe(v.number(), v.integer(), v.minValue(60), v.maxValue(7_776_000))),
});

const target: v.GenericSchema<unknown, GatewayConfig> = v.strictObject({
  ...targetEntries,
  strategy: v.optional(strategy),
  targets: v.optional(v.pipe(v.array(v.lazy(() => target)), v.minLength(1), v.maxLength(50))),
});

export const gatewayConfig: v.GenericSchema<unknown, GatewayConfig> = v.strictObject({
  ...targetEntries,
  strategy: v.optional(strategy),
  targets: v.optional(v.pipe(v.array(target), v.minLength(1), v.maxLength(100))),
  plugins: v.optional(v.record(v.string(), v.unknown())),
  fetch_integrated_models: v.optional(v.boolean()),
  cache: v.optional(cache),
});

/** Largest inline config in bytes, and deepest nesting of targets in any config. */
export const configLimits = { inlineBytes: 16_384, depth: 5, inlineTargets: 32 } as const;

/**
 * A config that this build can run, or the list of what is wrong, one `path: message` per fault. Checks what a schema cannot:
 * a strategy needs targets, targets need a strategy, nesting has a limit.
 */
export function parseGatewayConfig(input: unknown): { config: GatewayConfig } | { errors: string[] } {
  if (typeof input === 'object' && input !== null && 'options' in input)
    return { errors: ['options: version of config is not supported'] };
  const result = v.safeParse(gatewayConfig, input);
  if (!result.success) return { errors: result.issues.map((issue) => `${pathOf(issue)}: ${issue.message}`) };
  const errors: string[] = [];
  checkNode(result.output, '', 0, errors);
  if (result.output.capacity) errors.push('capacity: only targets of loadbalance have it');
  return errors.length > 0 ? { errors } : { config: result.output };
}

function checkNode(node: GatewayConfig, path: string, depth: number, errors: string[]): void {
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
  if (depth > configLimits.depth) errors.push(`${path}: targets are nested deeper than ${configLimits.depth}`);
  if (node.strategy && !node.targets) errors.push(`${at('targets')}: required when strategy is set`);
  if (node.targets && !node.strategy) errors.push(`${at('strategy')}: required when targets is set`);
  if (node.strategy && node.targets) checkStrategy(node.strategy, node.targets, at, errors);
  for (const [index, child] of (node.targets ?? []).entries()) checkNode(child, `${at('targets')}[${index}]`, depth + 1, errors);
}

/** `targets[1].retry.attempts` for an issue of valibot; `config` when the fault is the root itself. */
export function pathOf(issue: v.BaseIssue<unknown>): string {
  let path = '';
  for (const item of issue.path ?? []) {
    path += typeof item.key === 'number' ? `[${item.key}]` : path === '' ? String(item.key) : `.${String(item.key)}`;
  }
  return path === '' ? 'config' : path;
}
