import type { EntityManager } from '../db/open-database.ts';
import type { Change } from './write-change.ts';

/** Rows that belong to a row of another resource. */
export interface Dependent {
  /** Completes "This workspace still has 3 …". */
  readonly what: string;
  /** Returns how many of them prevent a deletion without `force_delete`. Absent: they never prevent it. */
  count?(em: EntityManager, owner: OwnerRow): Promise<number>;
  /** Deletes them, or removes their reference to the owner, and emits the events that gateways need. */
  remove(change: Change, owner: OwnerRow): Promise<void>;
}

interface OwnerRow {
  readonly id: string;
  readonly organisationId: string;
}

/** Dependents by the resource whose row is deleted, in the order of removal. */
export interface Dependents {
  readonly workspace: readonly Dependent[];
  readonly user: readonly Dependent[];
}
