import type { EntitySchema, FilterQuery } from '@mikro-orm/core';
import type { SharingTable } from '../db/access-tables.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { Tenant } from '../db/tenant.ts';
import type { Actor } from '../http/caller/actor.ts';
import { lacksScope } from '../http/caller/require-scope.ts';
import { conflict, forbidden, notFound } from '../http/errors.ts';
import { type FindActive, findActiveIn } from '../http/filters/active-items.ts';
import { mayUse, type Shareable } from './workspace-sharing.ts';

interface Integration extends Shareable {
  readonly slug: string;
  readonly status: 'active' | 'archived';
}

/** A kind of integrations that belong to a workspace, or to an organisation that shares them with workspaces. */
interface Kind<Row extends Integration> {
  // biome-ignore lint/suspicious/noExplicitAny: the constructor of the rows is of no interest
  readonly table: EntitySchema<Row, any>;
  /** The workspaces that may use each integration of an organisation. */
  readonly sharing: SharingTable;
  /** Name in errors, with its article: `an MCP integration`. */
  readonly named: string;
  /** Scopes are `workspace_<group>.<action>` and `organisation_<group>.<action>`. */
  readonly scopes: string;
}

/** Returns what to add to an error about an integration that the workspace cannot use. `collection` is the last part of its route. */
export function sharingHint(collection: string): string {
  return ` in this workspace. Share one of the organisation with it first: PUT /v1/${collection}/{id}/workspaces`;
}

export interface IntegrationAccess<Row> {
  /** Throws AB03 unless the actor may do this to integrations of this owner: those of the organisation have scopes of their own. */
  requireOwner(actor: Actor, workspaceId: string | null | undefined, action: string): void;
  /** Throws AB02 if an active integration of the organisation has the slug. */
  requireFreeSlug(em: EntityManager, organisationId: string, slug: string): Promise<void>;
  /** Returns an active integration that the actor owns. */
  readonly findOwn: FindActive<Row>;
  /** Returns an integration that the actor may read: in a workspace, its own and those shared with it. Throws AB08. */
  findReadable(em: EntityManager, call: Tenant, idOrSlug: string): Promise<Row>;
  /** Returns true if the integration belongs to the workspace or is shared with it. */
  mayUse(em: EntityManager, row: Row, workspaceId: string): Promise<boolean>;
}

/** Returns the rules of access to integrations of a kind. */
export function integrationAccess<Row extends Integration>(kind: Kind<Row>): IntegrationAccess<Row> {
  const { table, sharing, named, scopes } = kind;
  const noun = named.slice(named.indexOf(' ') + 1);
  const title = `${noun[0]?.toUpperCase()}${noun.slice(1)}`;
  const access: IntegrationAccess<Row> = {
    requireOwner(actor, workspaceId, action) {
      if (!workspaceId && actor.workspaceId !== null) {
        throw forbidden(`${title}s of the organisation require an organisation API key`);
      }
      const owners = workspaceId ? ['workspace', 'organisation'] : ['organisation'];
      const accepted = owners.map((owner) => `${owner}_${scopes}.${action}`);
      if (accepted.some((scope) => actor.scopes.has(scope))) return;
      throw lacksScope(actor, accepted);
    },
    async requireFreeSlug(em, organisationId, slug) {
      const taken = await em.count(table, { organisationId, slug, status: 'active' } as FilterQuery<Row>);
      if (taken > 0) throw conflict(`slug: ${named} with the slug ${slug} already exists`);
    },
    findOwn: findActiveIn(table, title),
    async findReadable(em, call, idOrSlug) {
      if (call.workspaceId === null) return access.findOwn(em, call, idOrSlug);
      const found = await access.findOwn(em, { ...call, workspaceId: null }, idOrSlug);
      if (!(await access.mayUse(em, found, call.workspaceId))) throw notFound(title);
      return found;
    },
    mayUse: (em, row, workspaceId) => mayUse(em, sharing, row, workspaceId),
  };
  return access;
}
