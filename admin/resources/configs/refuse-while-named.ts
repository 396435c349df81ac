import type { GatewayConfig } from '../../../core/contract/plugin/config/gateway-config.ts';
import { counted } from '../../../core/contract/values/text/counted.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { conflict } from '../../http/errors.ts';
import type { Provider } from '../providers/entity.ts';
import { referencesOf } from './check-config.ts';

/** Maximum number of slugs in one error message. */
const namedMax = 20;

/**
 * Throws AB07 if active configs of the workspace name this provider in their current version. The message lists their slugs to
 * callers who may list configs, and gives their number to all others.
 */
export async function refuseWhileNamed(
  em: EntityManager,
  actor: Actor,
  provider: Pick<Provider, 'organisationId' | 'workspaceId' | 'slug'>,
): Promise<void> {
  const slugs = await configsNaming(em, provider);
  if (slugs.length === 0) return;
  const more = slugs.length > namedMax ? ', …' : '';
  const which = actor.scopes.has('configs.list') ? `: ${slugs.slice(0, namedMax).join(', ')}${more}` : '';
  throw conflict(
    `The provider @${provider.slug} is used by ${counted(slugs.length, 'config')}${which}. Change them first, or delete it with force=true: requests then skip their targets`,
  );
}

/** Returns the slugs of the active configs whose current version names this provider, in alphabetical order. */
async function configsNaming(
  em: EntityManager,
  { organisationId, workspaceId, slug }: Pick<Provider, 'organisationId' | 'workspaceId' | 'slug'>,
): Promise<string[]> {
  const rows = await em.execute<{ slug: string; config: GatewayConfig }[]>(
    `select c.slug, v.config from configs c join config_versions v on v.id = c.version_id
     where c.organisation_id = ? and c.workspace_id = ? and c.status = 'active' and position(? in v.config::text) > 0
     order by c.slug`,
    [organisationId, workspaceId, slug],
  );
  const names = ({ config }: { readonly config: GatewayConfig }): boolean =>
    [...referencesOf(config, '')].some((reference) => reference.slug === slug);
  return rows.filter(names).map((row) => row.slug);
}
