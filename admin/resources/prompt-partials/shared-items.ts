import type { DocumentKind } from '../../../core/contract/protocol/documents.ts';
import { counted } from '../../../core/contract/values/text/counted.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import type { Dependent } from '../../publish/dependents.ts';
import type { Change } from '../../publish/write-change.ts';
import { type Shareable, withoutWorkspace } from './share.ts';

/** An item that workspaces share, and that belongs to a collection: a prompt or a partial. */
export interface SharedItem extends Shareable {
  readonly id: string;
  readonly slug: string;
  status: 'active' | 'archived';
  updatedBy: string;
  lastUpdatedAt: Date;
}

/** Filter for the items that the caller may read. */
export function readable({ organisationId, workspaceId }: Tenant) {
  const all = { organisationId, status: 'active' as const };
  if (workspaceId === null) return all;
  return { ...all, $or: [{ workspaceId }, { sharedWith: { $overlap: ['organisation', workspaceId] } }] };
}

/** Notes who changed the item, and when. */
export function touch(item: SharedItem, actor: Actor): void {
  item.updatedBy = actor.userId ?? actor.keyId;
  item.lastUpdatedAt = new Date();
}

/** Returns the first parts of the ids of an item's documents: its workspace, and the organisation if it is shared. */
export function ownersOf({ workspaceId, organisationId, sharedWith }: SharedItem): string[] {
  return sharedWith ? [workspaceId, organisationId] : [workspaceId];
}

/** Emits the documents of an item: by slug and by id, below its workspace, and if it is shared below the organisation. */
export function announceItem(change: Change, kind: DocumentKind, item: SharedItem, op: 'upsert' | 'delete'): void {
  change.about(item);
  for (const owner of ownersOf(item)) for (const name of [item.slug, item.id]) change.emit({ kind, id: `${owner}/${name}`, op });
}

/** Emits the documents after a change of sharing: those below the organisation appear or disappear. */
export function announceShare(change: Change, kind: DocumentKind, item: SharedItem): void {
  announceItem(change, kind, item, 'upsert');
  if (item.sharedWith) return;
  for (const name of [item.slug, item.id]) change.emit({ kind, id: `${item.organisationId}/${name}`, op: 'delete' });
}

/** Archives an item. Requests that name it then fail. */
export function archiveItem(change: Change, kind: DocumentKind, item: SharedItem): void {
  item.status = 'archived';
  item.lastUpdatedAt = new Date();
  announceItem(change, kind, item, 'delete');
}

/** A kind of item as its dependents need it. */
interface Kind {
  readonly document: DocumentKind;
  /** `prompt`. Its plural has an s. */
  readonly noun: string;
  /** Plural in messages about a collection of prompts. */
  readonly inCollection: string;
  count(em: EntityManager, where: Filter): Promise<number>;
  /** Returns the items in the order of their slugs. */
  find(em: EntityManager, where: Filter): Promise<SharedItem[]>;
}

interface Filter {
  readonly organisationId: string;
  readonly status: 'active';
  readonly workspaceId?: string;
  readonly collectionId?: string;
  readonly sharedWith?: { readonly $ne: null } | { readonly $contains: string[] };
}

/** Returns the items of a kind as dependents of their workspace and of their collection. */
export function sharedDependents({
  document,
  noun,
  inCollection,
  count,
  find,
}: Kind): Record<'workspace' | 'collection', Dependent[]> {
  const active = (organisationId: string) => ({ organisationId, status: 'active' }) as const;
  const archiveAll = async (change: Change, where: Filter): Promise<void> => {
    for (const item of await find(change.tx, where)) archiveItem(change, document, item);
  };
  return {
    workspace: [
      {
        what: `${noun}s`,
        async refuse(em, { id, organisationId }) {
          const shared = await count(em, { ...active(organisationId), workspaceId: id, sharedWith: { $ne: null } });
          return shared === 0 ? null : `This workspace still shares ${counted(shared, noun)}. Stop sharing first`;
        },
        count: (em, { id, organisationId }) => count(em, { ...active(organisationId), workspaceId: id }),
        async remove(change, { id, organisationId }) {
          await archiveAll(change, { ...active(organisationId), workspaceId: id });
          for (const item of await find(change.tx, { ...active(organisationId), sharedWith: { $contains: [id] } })) {
            item.sharedWith = withoutWorkspace(item, id);
            announceShare(change, document, item);
          }
        },
      },
    ],
    collection: [
      {
        what: inCollection,
        count: (em, { id, organisationId }) => count(em, { ...active(organisationId), collectionId: id }),
        remove: (change, { id, organisationId }) => archiveAll(change, { ...active(organisationId), collectionId: id }),
      },
    ],
  };
}
