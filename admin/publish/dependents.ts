import type { EntityManager } from '../db/open-database.ts';
import type { Change } from './write-change.ts';

/** Rows that belong to, or refer to, a row of another resource: its owner. */
export interface Dependent {
  /** Completes "This workspace still has … (3)". */
  readonly what: string;
  /** Returns how many of them prevent a deletion without `force_delete`. Absent: they never prevent it. */
  count?(em: EntityManager, owner: OwnerRow): Promise<number>;
  /** Returns why the owner cannot be deleted at all; null if they do not prevent it. The text must name only what the actor may see. */
  refuse?(em: EntityManager, owner: OwnerRow, actor: { readonly scopes: ReadonlySet<string> }): Promise<string | null>;
  /** Emits the events that gateways need after a change of the owner. */
  changed?(change: Change, owner: OwnerRow): Promise<void>;
  /** Deletes them, or removes their reference to the owner, and emits the events that gateways need. */
  remove?(change: Change, owner: OwnerRow, all: Dependents): Promise<void>;
}

export interface OwnerRow {
  readonly id: string;
  readonly organisationId: string;
}

/** Resources whose rows have dependents. */
export const ownerKinds = ['workspace', 'user', 'config', 'integration', 'secretReference', 'collection', 'label'] as const;

/** Dependents by the resource of their owner, in the order of removal. */
export type Dependents = Readonly<Record<(typeof ownerKinds)[number], readonly Dependent[]>>;

/** Returns the first reason why a row cannot be deleted; null if there is none. */
export async function refusalOf(
  dependents: readonly Dependent[],
  em: EntityManager,
  owner: OwnerRow,
  actor: { readonly scopes: ReadonlySet<string> },
): Promise<string | null> {
  for (const { refuse } of dependents) {
    const reason = (await refuse?.(em, owner, actor)) ?? null;
    if (reason !== null) return reason;
  }
  return null;
}
