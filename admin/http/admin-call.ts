import type { EntityManager } from '../db/open-database.ts';
import type { Change } from '../publish/write-change.ts';
import type { AdminServices } from './admin-services.ts';
import type { Actor } from './caller/actor.ts';

/** A row whose revision changes with each write. */
export interface Versioned {
  readonly revision: number;
  /** Null or absent: the row belongs to no workspace. */
  readonly workspaceId?: string | null | undefined;
}

/** One request after authentication, authorisation and validation. */
export interface AdminCall<Query, Body> {
  readonly actor: Actor;
  readonly organisationId: string;
  /** Null only on `either` routes, and on item routes that name the item by its row id. */
  readonly workspaceId: string | null;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** The `content-type` header, empty when there is none. */
  readonly contentType: string;
  /** The `accept` header, empty when there is none. */
  readonly accept: string;
  /** The `if-none-match` header, empty when there is none. */
  readonly ifNoneMatch: string;
  /** Returns the header of this service with this name, without its prefix; empty when there is none. */
  option(name: string): string;
  /** For reading. Changes go through `write`. */
  readonly em: EntityManager;
  readonly services: AdminServices;
  /** Sets the `etag` to the revision of the returned or changed item. */
  tag(revision: number): void;
  /** Adds a header to the reply, also to an error. */
  header(name: string, value: string): void;
  /**
   * Names settings of the request that are stored without effect, in addition to those that `withoutEffect` marks in the schema.
   */
  unused(...paths: readonly string[]): void;
  /**
   * Throws AB12 if the caller sent `if-match` with another revision than that of the row. Call it in `write`, after the row was locked or
   * read there. Throws AB01 if the body has `workspace_id: null` and the row belongs to a workspace. The reply of a change has the new revision of the row as `etag`, unless `tag` sets another.
   */
  match(row: Versioned): void;
  /** Call first in a transaction that is not that of `write`, such as one of records: an `idempotency-key` is committed with it. */
  claim(tx: EntityManager): Promise<void>;
  /** Frees a claimed `idempotency-key` after a failure that stored nothing, so that the request can be repeated with it. */
  release(): Promise<void>;
  /** One transaction: rows, audit entry, events. At most once per call. */
  write<T>(work: (change: Change) => Promise<T>): Promise<T>;
}
