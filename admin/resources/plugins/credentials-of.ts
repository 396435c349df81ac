import type { EntityManager } from '../../db/open-database.ts';
import type { Vault } from '../../secrets/vault.ts';
import { plugins } from './entity.ts';
import { pluginSecrets } from './secrets.ts';

/** Returns the partner of a check; null for a check of the service itself. */
export function partnerOf(checkId: string): string | null {
  const [prefix = '', name] = checkId.split('.');
  return name === undefined || prefix === 'default' || prefix === 'svc' ? null : prefix;
}

/** Returns the active credentials of an organisation at these partners, as plain text. */
export async function credentialsOf(
  em: EntityManager,
  vault: Vault,
  organisationId: string,
  partners: readonly string[],
): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  if (partners.length === 0) return new Map();
  const rows = await em.find(plugins, { organisationId, partner: { $in: [...partners] }, status: 'active' });
  const opened = await Promise.all(rows.map(async (row) => [row.partner, await pluginSecrets.open(em, vault, row)] as const));
  return new Map(opened);
}
