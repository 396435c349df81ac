import { hostSettingNames } from '../../../../core/providers/declarations.ts';
import type { SharingTable } from '../../../db/access-tables.ts';
import type { EntityManager } from '../../../db/open-database.ts';
import type { Actor } from '../../../http/caller/actor.ts';
import { type AdminError, forbidden, invalid } from '../../../http/errors.ts';
import { originOf } from '../../../http/gateways/check-host.ts';
import { isOpenTo } from '../../secret-references/find-reference.ts';
import { type Integration, integrationWorkspaces } from '../entity.ts';
import type { SentMappings } from './mapping-schema.ts';
import type { Mapping } from './mapping-table.ts';
import { type MappingScope, resolveMappings, type SettingsName, targetOf } from './secret-mappings.ts';

type Settings = Readonly<Record<string, unknown>>;

/**
 * Checks the right to map secrets. An actor who maps a reference must not see its value, but could read it by sending it to a
 * host of their own, or by mapping it to a field that calls reveal. Both need the right to change references. Throws AB03.
 * `added` are the new mappings, `all` the current ones. The settings are passed before and after the change.
 */
export function requireMappingRight(
  actor: Actor,
  { added, all }: { readonly added: readonly Mapping[]; readonly all: readonly Mapping[] },
  before: Settings,
  now: Settings,
): void {
  if (all.length === 0 || (actor.workspaceId === null && actor.scopes.has('secret_references.update'))) return;
  const shown = added.find(({ isSecret }) => !isSecret);
  if (shown) throw refused(`${targetOf(shown.field, 'configurations')}, which is not a credential`);
  for (const name of hostSettingNames) {
    const origin = originOf(now[name]);
    if (origin !== null && (added.length > 0 || origin !== originOf(before[name]))) {
      throw refused(`an integration with a custom host (configurations.${name})`);
    }
  }
}

/** Returns the mappings of an account that is new, or only tested (`hold` false: outside a transaction). */
export async function mappingsOfNew(
  em: EntityManager,
  actor: Actor,
  scope: MappingScope & { readonly configurations: Settings },
  sent: SentMappings,
  under: SettingsName,
  hold = true,
): Promise<Mapping[]> {
  const all = await resolveMappings(em, scope, sent, under, hold);
  requireMappingRight(actor, { added: all, all }, {}, scope.configurations);
  return all;
}

function refused(what: string): AdminError {
  return forbidden(
    `secret_mappings: mapping a secret to ${what} requires the scope secret_references.update of the organisation`,
  );
}

/**
 * Throws AB01 at `path` if an integration of the organisation reads from a reference that one of its workspaces may not use. If
 * it is shared with all workspaces, including future ones, its references must be open to all.
 */
export async function requireOpenReferences(
  em: EntityManager,
  row: Pick<Integration, 'id' | 'workspaceId' | 'globalWorkspaceAccess'>,
  mapped: readonly Mapping[],
  path: string,
  sharing: SharingTable | typeof integrationWorkspaces = integrationWorkspaces,
): Promise<void> {
  const limited = mapped.filter(({ reference }) => !reference.allowAllWorkspaces);
  if (limited.length === 0 || row.workspaceId) return;
  const shared = await em.find(sharing as typeof integrationWorkspaces, { integrationId: row.id, enabled: true });
  const closed = limited.find(
    ({ reference }) => row.globalWorkspaceAccess || shared.some(({ workspaceId }) => !isOpenTo(reference, workspaceId)),
  );
  if (!closed) return;
  throw invalid(`${path}: the secret reference ${closed.reference.slug} is not open to all workspaces that have the integration`);
}
