import type { EntityManager } from '../../../db/open-database.ts';
import type { Dependent, OwnerRow } from '../../../publish/dependents.ts';
import type { Change } from '../../../publish/write-change.ts';
import { type MappingTable, mappedIntegrations } from './mapping-table.ts';

interface Kind<Row> {
  /** Noun for the users in errors, in the plural. */
  readonly what: string;
  readonly mappings: MappingTable;
  /** Scopes of which one allows the error to name them. */
  readonly scopes: readonly string[];
  /** Returns the active integrations with these ids, by slug. */
  find(em: EntityManager, organisationId: string, ids: string[]): Promise<Row[]>;
  announce(change: Change, integrationId: string): Promise<void>;
}

/** Integrations of one kind that read from a secret reference: they prevent its deletion, and its changes are announced for them. */
export function mappingUsers<Row extends { readonly id: string; readonly slug: string }>(kind: Kind<Row>): Dependent {
  const { what, mappings, scopes } = kind;
  const usersOf = async (em: EntityManager, { id, organisationId }: OwnerRow): Promise<Row[]> =>
    kind.find(em, organisationId, await mappedIntegrations(em, mappings, organisationId, id));
  return {
    what,
    async refuse(em, row, actor) {
      const users = await usersOf(em, row);
      if (users.length === 0) return null;
      const slugs = scopes.some((scope) => actor.scopes.has(scope)) ? `: ${users.map(({ slug }) => slug).join(', ')}` : '';
      return `This secret reference is used by ${users.length} ${what}${slugs}. Change them first`;
    },
    async changed(change, row) {
      for (const { id } of await usersOf(change.tx, row)) await kind.announce(change, id);
    },
    async remove({ tx }, { id, organisationId }) {
      // Mappings left by integrations that an older version archived.
      await tx.nativeDelete(mappings, { organisationId, secretReferenceId: id });
    },
  };
}
