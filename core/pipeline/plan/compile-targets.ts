import {
  type CacheConfig,
  type GatewayConfig,
  type RetryConfig,
  settingOf,
} from '../../contract/plugin/config/gateway-config.ts';
import { type GuardrailReference, type GuardrailRule, guardrailsOf } from '../../contract/plugin/guardrails/guardrail-config.ts';
import type { CacheRule, Retry, Target } from '../../contract/plugin/plan.ts';
import type { Credentials } from '../../contract/provider/provider.ts';
import type { SettingNames } from '../../contract/provider/setting-names.ts';
import { Secret } from '../../contract/values/credentials/secret.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { splitModelSlug } from '../../contract/values/models/model-slug.ts';
import { onlyOwnRules, type ResolveRules } from './saved-guardrails.ts';

/** Statuses that are retried if the config lists none. */
const retryStatusCodes = [429, 500, 502, 503, 504, 529];
/** An attempt with its own timeout is retried when it times out. */
const timedRetryStatusCodes = [408, ...retryStatusCodes];

/**
 * Returns the leaves of a config's strategy tree in document order, with inheritance applied once. Parameter objects are merged
 * shallowly, and the child's members take precedence. Every other field is the child's if set, else the parent's. `resolve` puts saved
 * guardrails in the place of their names.
 */
export function compileTargets(config: GatewayConfig, names: SettingNames, resolve: ResolveRules = onlyOwnRules): Target[] {
  const targets: Target[] = [];
  const rulesOf = { input: resolver('input'), output: resolver('output') };
  const start = resolve(guardrailsOf(config, 'start') ?? [], 'start');
  walk(config, 'config', null);
  return targets;

  function walk(node: GatewayConfig, path: string, parent: Inherited | null): void {
    const own = inherit(node, parent, names, path);
    if (node.targets) {
      for (const [index, child] of node.targets.entries()) walk(child, `${path}.targets[${index}]`, own);
      return;
    }
    const guardrails = { start, input: rulesOf.input(own.guardrails.input), output: rulesOf.output(own.guardrails.output) };
    targets.push({ ...own, guardrails, index: targets.length, path });
  }

  /** Targets that inherit the same list share its rules, so that plugins can compile them once. */
  function resolver(side: 'input' | 'output'): (entries: Entries) => readonly GuardrailRule[] {
    const known = new Map<Entries, readonly GuardrailRule[]>();
    return (entries) => {
      const rules = known.get(entries) ?? resolve(entries, side);
      known.set(entries, rules);
      return rules;
    };
  }
}

type Entries = readonly (GuardrailRule | GuardrailReference)[];
type Inherited = Omit<Target, 'index' | 'path' | 'guardrails'> & {
  readonly guardrails: { readonly input: Entries; readonly output: Entries };
};

function inherit(node: GatewayConfig, parent: Inherited | null, names: SettingNames, path: string): Inherited {
  const model = node.override_params?.model;
  const split = typeof model === 'string' ? splitModelSlug(model) : null;
  const virtual = node.virtual_key === undefined ? undefined : `@${node.virtual_key.replace(/^@/, '')}`;
  // Beside a virtual key, a provider type names the type of that stored provider.
  const named = node.provider?.startsWith('@') ? node.provider : (virtual ?? node.provider ?? split?.slug);
  const asked = node.passthrough === true;
  // A child that names its own provider does not inherit the parent's key.
  const sameProvider = named === undefined && !asked;
  return {
    provider: named ?? (asked ? null : (parent?.provider ?? null)),
    credentials: { ...(sameProvider ? parent?.credentials : undefined), ...credentialsOf(node, names) },
    customHost: node.custom_host ?? (asked ? null : (parent?.customHost ?? null)),
    settings: { ...parent?.settings, ...settingsOf(node, names) },
    promptId: node.prompt_id ?? parent?.promptId ?? null,
    overrideParams: merge(parent?.overrideParams, split ? { ...node.override_params, model: split.model } : node.override_params),
    defaultParams: merge(parent?.defaultParams, node.default_params),
    dropParams: node.drop_params ?? parent?.dropParams ?? null,
    retry: node.retry ? compileRetry(node.retry) : (parent?.retry ?? null),
    timeoutMs: node.request_timeout ?? parent?.timeoutMs ?? null,
    forwardHeaders: node.forward_headers?.map((name) => name.toLowerCase()) ?? parent?.forwardHeaders ?? null,
    strict: node.strict_open_ai_compliance ?? parent?.strict ?? null,
    strictParams: node.strict_params ?? parent?.strictParams ?? false,
    metadata: merge(parent?.metadata, node.metadata) as Target['metadata'],
    cache: node.cache ? compileCache(node.cache) : (parent?.cache ?? null),
    guardrails: {
      input: ownGuardrails(node, 'input', path) ?? parent?.guardrails.input ?? noGuardrails,
      output: ownGuardrails(node, 'output', path) ?? parent?.guardrails.output ?? noGuardrails,
    },
  };
}

const noGuardrails: Entries = [];

/** Guardrails of a target replace the inherited ones of the same side. An empty list replaces nothing. */
function ownGuardrails(node: GatewayConfig, side: 'input' | 'output', path: string): Entries | null {
  const below = path.replace(/^config\.?/, '');
  return guardrailsOf(node, side)?.map((rule) => (below === '' ? rule : { ...rule, path: `${below}.${rule.path}` })) ?? null;
}

function compileCache(cache: NonNullable<GatewayConfig['cache']>): CacheRule | null {
  const { mode, max_age, threshold, embedding }: CacheConfig = cache;
  if (mode === 'off') return null;
  return {
    mode,
    maxAgeSeconds: max_age ?? null,
    threshold: threshold ?? null,
    embedding: embedding
      ? {
          provider: `@${embedding.provider.replace(/^@/, '')}`,
          model: embedding.model,
          dimensions: embedding.dimensions ?? null,
        }
      : null,
  };
}

function compileRetry(retry: RetryConfig): Retry {
  return {
    attempts: retry.attempts,
    statusCodes: retry.on_status_codes ?? (retry.max_attempt_time_ms === undefined ? retryStatusCodes : timedRetryStatusCodes),
    useRetryAfter: retry.use_retry_after_header ?? retry.use_retry_after_headers ?? false,
    attemptTimeMs: retry.max_attempt_time_ms ?? null,
    totalTimeMs: retry.max_total_time_ms ?? null,
  };
}

function settingsOf(node: GatewayConfig, names: SettingNames): JsonObject {
  const settings: JsonObject = {};
  for (const name of [...names.settings, ...names.config]) {
    const value = settingOf(node, name);
    if (value !== undefined) settings[name] = value;
  }
  return settings;
}

function credentialsOf(node: GatewayConfig, names: SettingNames): Credentials {
  const credentials: Record<string, Secret> = {};
  if (node.api_key !== undefined) credentials.api_key = new Secret(node.api_key);
  for (const name of names.secrets) {
    const value = settingOf(node, name);
    if (value !== undefined) credentials[name] = new Secret(typeof value === 'string' ? value : JSON.stringify(value));
  }
  return credentials;
}

function merge(
  parent: Readonly<JsonObject> | null | undefined,
  own: Readonly<JsonObject> | undefined,
): Readonly<JsonObject> | null {
  if (!own) return parent ?? null;
  return parent ? { ...parent, ...own } : own;
}
