import type { EntityManager } from '../../db/open-database.ts';
import { addMembers, type Group, keepMembers, removeMembers } from './members.ts';

/** Result of changes: members that were not in the group, and members that are no longer in it. */
interface Applied {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Changes of members that follow each other, as one change. Directories send an operation for each member, and a request may hold a thousand
 * operations, so the statements depend on the result of all of them.
 */
export class MemberChanges {
  /** Every id that an operation names as a member, in order, so that an unknown one is an error although a later operation removes it. */
  #named: string[] = [];
  /** The operations that name members, each with the index of its first one in `#named`. */
  #operations: { readonly at: string; readonly first: number }[] = [];
  #removed = new Set<string>();
  /** The members after the last replacement and what follows it; null without a replacement. */
  #kept: Set<string> | null = null;

  /** `at` names the operation in errors; empty: the request has no operations. */
  add(ids: readonly string[], at: string): void {
    this.#operations.push({ at, first: this.#named.length });
    for (const id of ids) {
      this.#named.push(id);
      this.#removed.delete(id.toLowerCase());
      this.#kept?.add(id.toLowerCase());
    }
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) {
      this.#removed.add(id.toLowerCase());
      this.#kept?.delete(id.toLowerCase());
    }
  }

  /** Replaces all members. */
  replace(ids: readonly string[], at: string): void {
    this.#removed.clear();
    this.#kept = new Set();
    this.add(ids, at);
  }

  /** Writes the changes and forgets them. Throws `invalidValue` for unknown users. */
  async write(tx: EntityManager, group: Group): Promise<Applied> {
    const [named, removed, kept, operations] = [this.#named, [...this.#removed], this.#kept, this.#operations];
    this.#named = [];
    this.#operations = [];
    this.#removed = new Set();
    this.#kept = null;
    const fieldOf = (index: number): string => {
      const { at, first } = operations.findLast((one) => one.first <= index) ?? { at: '', first: 0 };
      return `${at === '' ? '' : `${at}: `}members[${index - first}]`;
    };
    const added = named.length === 0 ? [] : await addMembers(tx, group, named, fieldOf);
    if (kept !== null) return { added, removed: await keepMembers(tx, group, [...kept]) };
    return { added, removed: removed.length === 0 ? [] : await removeMembers(tx, group, removed) };
  }
}
