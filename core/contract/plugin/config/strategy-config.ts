import * as v from 'valibot';
import { dayMs, hourMs } from '../../values/time/durations.ts';
import type { BreakerSettings } from '../services/circuits.ts';
import type { GatewayConfig } from './gateway-config.ts';
import { compileQuery, type PatternCosts } from './routing-query.ts';

const params = v.record(v.string(), v.unknown());
const whole = (least: number, most: number) => v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));

/** A status code of HTTP. */
export const status = whole(100, 599);

/** Shortest cool-down of a circuit in milliseconds. Shorter ones are raised to it. */
const breakerCooldownMsMin = 30_000;

/** Settings of a circuit breaker. */
export const breakerConfig = v.pipe(
  v.strictObject({
    failure_threshold: v.optional(whole(1, 1_000_000)),
    failure_threshold_percentage: v.optional(v.pipe(v.number(), v.gtValue(0), v.maxValue(100))),
    /** Milliseconds. */
    cooldown_interval: whole(1, dayMs),
    failure_status_codes: v.optional(v.pipe(v.array(status), v.minLength(1))),
    minimum_requests: v.optional(whole(1, 1_000_000)),
  }),
  v.check(
    (config) => config.failure_threshold !== undefined || config.failure_threshold_percentage !== undefined,
    'needs failure_threshold or failure_threshold_percentage, else the circuit never opens',
  ),
);

const requestsMinDefault = 5;

/** Returns the conditions of a circuit from its settings. */
export function breakerSettingsOf(own: v.InferOutput<typeof breakerConfig>): BreakerSettings {
  return {
    failureThreshold: own.failure_threshold ?? null,
    failurePercent: own.failure_threshold_percentage ?? null,
    requestsMin: own.minimum_requests ?? requestsMinDefault,
    cooldownMs: Math.max(own.cooldown_interval, breakerCooldownMsMin),
    statusCodes: own.failure_status_codes ?? null,
  };
}

const outlier = v.pipe(
  v.strictObject({
    /** Failures in a row before a target goes to the end. */
    consecutive_failures: v.optional(whole(1, 1000)),
    /** Milliseconds: the first time at the end, doubled with each further one. */
    cooldown: v.optional(whole(100, hourMs)),
    /** Milliseconds: the longest time at the end of the order. */
    max_cooldown: v.optional(whole(100, hourMs)),
  }),
  v.check(
    (config) => (config.max_cooldown ?? outlierDefaults.maxCooldownMs) >= (config.cooldown ?? outlierDefaults.cooldownMs),
    'max_cooldown (60000 unless given) must not be less than cooldown (5000 unless given)',
  ),
);

/** Defaults for the fields that an `outlier` object omits. */
export const outlierDefaults = { consecutiveFailures: 5, cooldownMs: 5000, maxCooldownMs: 60_000 } as const;

/** Load that one target accepts under `priority_capacity`. It applies to one machine, whose gateway processes share it. */
export const capacity = v.pipe(
  v.strictObject({
    /** Maximum number of concurrent requests. */
    in_flight: v.optional(whole(1, 1_000_000)),
    /** Maximum number of requests per minute. */
    rpm: v.optional(whole(1, 100_000_000)),
  }),
  v.check((config) => config.in_flight !== undefined || config.rpm !== undefined, 'needs in_flight or rpm'),
);

/** `strategy` of a config. */
export const strategy = v.strictObject({
  mode: v.picklist(['single', 'fallback', 'loadbalance', 'conditional']),
  /** fallback: the statuses after which the next target is tried. Absent: every status except 2xx. */
  on_status_codes: v.optional(v.array(status)),
  /** conditional: the first condition that holds names the target. */
  conditions: v.optional(
    v.pipe(
      v.array(v.strictObject({ query: params, then: v.pipe(v.string(), v.minLength(1)) })),
      v.minLength(1),
      v.maxLength(1000),
    ),
  ),
  default: v.optional(v.pipe(v.string(), v.minLength(1))),
  /** loadbalance: how a target is chosen. */
  algorithm: v.optional(v.picklist(['weighted', 'round_robin', 'least_latency', 'least_busy', 'priority_capacity'])),
  sticky: v.optional(
    v.strictObject({
      enabled: v.boolean(),
      hash_fields: v.optional(v.pipe(v.array(v.pipe(v.string(), v.regex(/^(metadata|params|headers)\../))), v.maxLength(16))),
      /** Seconds. */
      ttl: v.optional(v.pipe(v.number(), v.minValue(1), v.maxValue(604_800))),
    }),
  ),
  /** Circuit breaker of every target below. Applies to saved configs and stored providers only. */
  cb_config: v.optional(breakerConfig),
  /** loadbalance, fallback: targets that fail repeatedly move to the end of the order for a time. */
  outlier: v.optional(outlier),
});

export type StrategyConfig = v.InferOutput<typeof strategy>;

type StrategyField = Exclude<keyof StrategyConfig, 'mode'>;

/** The modes that use each field. The other modes reject it, because it would have no effect. */
const modesOfField: Readonly<Record<StrategyField, readonly StrategyConfig['mode'][]>> = {
  on_status_codes: ['fallback'],
  conditions: ['conditional'],
  default: ['conditional'],
  algorithm: ['loadbalance'],
  sticky: ['loadbalance'],
  cb_config: ['single', 'fallback', 'loadbalance'],
  outlier: ['fallback', 'loadbalance'],
};

/** Adds to `errors` the issues of a strategy and its targets that their schemas cannot detect; `at` returns the path of a key. */
export function checkStrategy(
  strategy: StrategyConfig,
  targets: readonly GatewayConfig[],
  at: (key: string) => string,
  errors: string[],
): void {
  for (const [field, modes] of Object.entries(modesOfField)) {
    if (!(field in strategy) || modes.includes(strategy.mode)) continue;
    const text =
      modes.length === 1 ? `allowed with the strategy ${modes[0]} only` : `allowed with the strategies ${modes.join(', ')} only`;
    errors.push(`${at(`strategy.${field}`)}: ${text}`);
  }
  if (strategy.mode === 'loadbalance') checkBalance(strategy, targets, at, errors);
  const algorithm = strategy.mode === 'loadbalance' ? strategy.algorithm : undefined;
  for (const [index, target] of targets.entries()) {
    if (target.capacity === undefined || algorithm === 'priority_capacity') continue;
    errors.push(`${at(`targets[${index}].capacity`)}: allowed on targets of loadbalance with algorithm priority_capacity only`);
  }
  if (strategy.mode === 'conditional') checkConditions(strategy, targets, at, errors);
}

function checkBalance(
  { algorithm = 'weighted', sticky }: StrategyConfig,
  targets: readonly GatewayConfig[],
  at: (key: string) => string,
  errors: string[],
): void {
  if (targets.every((target) => target.weight === 0)) {
    errors.push(`${at('targets')}: at least one weight must be above 0`);
  }
  if (sticky?.enabled && algorithm !== 'weighted') {
    errors.push(`${at('strategy.sticky')}: allowed with the algorithm weighted only`);
  }
  if (algorithm === 'least_latency' || algorithm === 'priority_capacity') {
    for (const [index, { weight }] of targets.entries()) {
      if (weight === undefined || weight === 0 || weight === 1) continue;
      errors.push(`${at(`targets[${index}].weight`)}: ${algorithm} does not use weights; only 0 (never) and 1 are allowed`);
    }
  }
  if (algorithm !== 'priority_capacity') return;
  const last = targets.findLastIndex((target) => target.weight !== 0);
  for (const [index, target] of targets.entries()) {
    if (target.capacity !== undefined || target.weight === 0 || index === last) continue;
    errors.push(`${at(`targets[${index}].capacity`)}: required, because targets after one without capacity are never used`);
  }
}

function checkConditions(
  strategy: StrategyConfig,
  targets: readonly GatewayConfig[],
  at: (key: string) => string,
  errors: string[],
): void {
  if (!strategy.conditions) errors.push(`${at('strategy.conditions')}: required by the conditional strategy`);
  const names = new Set(targets.map((target) => target.name));
  const costs: PatternCosts = { size: 0 };
  for (const [index, condition] of (strategy.conditions ?? []).entries()) {
    try {
      compileQuery(condition.query, at(`strategy.conditions[${index}].query`), costs);
    } catch (thrown) {
      errors.push((thrown as Error).message);
    }
    if (!names.has(condition.then))
      errors.push(`${at(`strategy.conditions[${index}].then`)}: no target has the name ${condition.then}`);
  }
  if (strategy.default !== undefined && !names.has(strategy.default)) {
    errors.push(`${at('strategy.default')}: no target has the name ${strategy.default}`);
  }
}
