import { didYouMean } from '../../../config/did-you-mean.ts';
import {
  type GatewayConfig,
  parseGatewayConfig,
  settingOf,
  type TargetLimits,
} from '../../../core/contract/plugin/config/gateway-config.ts';
import { hostSettingNames, queryHostNames, settingNames } from '../../../core/providers/declarations.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { AdminError } from '../../http/errors.ts';
import { parseStrictJson } from '../../http/request/parse-strict-json.ts';
import { isProviderId, unknownProviderType } from '../integrations/configurations/provider-type.ts';
import { providers } from '../providers/entity.ts';
import { inlineSecrets } from './inline-secrets.ts';
import { unusableGuardrails } from './unusable-guardrails.ts';

/**
 * Returns the config in the form that gateways run. Throws AB01 with a path for every issue: errors of the config language,
 * provider types and slugs that do not exist in the workspace, guardrails that it cannot use, and credentials, which belong in an integration
 * and not in plain rows.
 */
export async function checkConfig(
  em: EntityManager,
  workspaceId: string,
  sent: unknown,
  limits: TargetLimits,
): Promise<Record<string, unknown>> {
  const input = typeof sent === 'string' ? parseStrictJson(sent, 'config') : sent;
  const parsed = parseGatewayConfig(input, settingNames, limits);
  if ('errors' in parsed) throw refuse(parsed.errors);
  const references = [...referencesOf(parsed.config, '')];
  const slugs = references.flatMap((one) => (one.slug === null ? [] : [one.slug]));
  const known = new Set(
    slugs.length === 0 ? [] : (await em.find(providers, { workspaceId, slug: { $in: slugs } })).map((row) => row.slug),
  );
  const unusable = await unusableGuardrails(em, workspaceId, parsed.config);
  const isMissing = slugs.some((slug) => !known.has(slug));
  const all = isMissing
    ? (await em.find(providers, { workspaceId }, { limit: suggestedFromMax })).map((row) => `@${row.slug}`)
    : [];
  const errors = references.flatMap((one) => {
    if (one.issue !== null) return [`${one.path}: ${one.issue}`];
    if (one.slug !== null && !known.has(one.slug)) {
      return [`${one.path}: no provider @${one.slug} in this workspace${didYouMean(one.slug, all)}`];
    }
    return [];
  });
  errors.push(...unusable, ...inlineSecrets(parsed.config));
  if (errors.length > 0) throw refuse(errors);
  return input as Record<string, unknown>;
}

/** Maximum number of providers that a misspelt slug is compared with. */
const suggestedFromMax = 1_000;

interface Reference {
  readonly path: string;
  readonly slug: string | null;
  readonly issue: string | null;
}

/** Returns the stored providers that a config names, and errors of its types and credentials. */
export function* referencesOf(node: GatewayConfig, path: string): Generator<Reference> {
  const at = (key: string) => (path === '' ? key : `${path}.${key}`);
  if (node.provider?.startsWith('@')) {
    yield { path: at('provider'), slug: node.provider.slice(1), issue: null };
  } else if (node.provider !== undefined && !isProviderId(node.provider)) {
    yield {
      path: at('provider'),
      slug: null,
      issue: `${unknownProviderType(node.provider)}; a stored provider is written @slug`,
    };
  }
  if (node.virtual_key !== undefined) yield { path: at('virtual_key'), slug: node.virtual_key.replace(/^@/, ''), issue: null };
  const embedding = node.cache?.embedding;
  if (embedding) yield { path: at('cache.embedding.provider'), slug: embedding.provider.replace(/^@/, ''), issue: null };
  const model = node.override_params?.model;
  const named = typeof model === 'string' ? /^@(?!cf\/|hf\/)([^/]+)\//.exec(model) : null;
  if (named?.[1]) yield { path: at('override_params.model'), slug: named[1], issue: null };
  for (const key of ['api_key', ...settingNames.secrets]) {
    if (settingOf(node, key) === undefined) continue;
    const issue = 'credentials are not allowed in saved configs. Create an integration and use its provider as @slug';
    yield { path: at(key), slug: null, issue };
  }
  // Both may be credentials, and gateways call no host with them.
  for (const key of hostSettingNames) {
    const url = settingOf(node, key);
    if (typeof url !== 'string') continue;
    if (/:\/\/[^/?]*@/.test(url)) yield { path: at(key), slug: null, issue: 'must not contain a user name or password' };
    else if (url.includes('?') && !queryHostNames.includes(key))
      yield { path: at(key), slug: null, issue: 'must not have a query' };
  }
  for (const [index, child] of (node.targets ?? []).entries()) yield* referencesOf(child, `${at('targets')}[${index}]`);
}

function refuse(issues: readonly string[]): AdminError {
  const errors = issues.map((issue) => (issue.startsWith('config:') ? issue : `config.${issue}`));
  return new AdminError('AB01', errors[0] ?? 'config: not valid', errors);
}
