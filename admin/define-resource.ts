import type { EntitySchema, MigrationObject } from '@mikro-orm/core';
import type { Settings } from '../config/settings.ts';
import type { Clock, Log } from '../core/contract/plugin/plugin.ts';
import type { RequestRecord } from '../core/contract/plugin/record/record.ts';
import type { DocumentKind, DocumentOf } from '../core/contract/protocol/documents.ts';
import { isUuid } from '../core/contract/values/text/uuid.ts';
import type { ClickHouse } from './clickhouse/clickhouse.ts';
import type { Database, EntityManager } from './db/open-database.ts';
import type { AdminServices } from './http/admin-services.ts';
import type { PublicRoute } from './http/public-route.ts';
import type { AdminRoute } from './http/route.ts';
import type { JobHandler } from './jobs/job-runner.ts';
import type { Mailer } from './mail/mailer.ts';
import type { PriceSource } from './pricing/price-record.ts';
import type { Dependents } from './publish/dependents.ts';
import type { Vault } from './secrets/vault.ts';

/**
 * Everything one resource adds to the control plane. `core/contract/protocol/resources.ts` lists the resources; `admin/tables.ts` computes the
 * tables of the ORM, the migrations, the routes, the documents, the housekeeping and the jobs from that list.
 */
export interface Resource {
  /** Name of the folder. */
  readonly name: string;
  /**
   * Resources that must precede this one, because its rows or samples refer to theirs or its routes are less specific. Rows of a
   * deleted workspace or user are removed in the opposite order.
   */
  readonly after?: readonly string[];
  readonly entities?: readonly EntitySchema[];
  /** Migrations of this resource. All migrations run in the order of their names. */
  readonly migrations?: readonly MigrationObject[];
  readonly routes?: readonly AdminRoute[];
  /** Routes without authentication. */
  readonly publicRoutes?: readonly PublicRoute[];
  /** Documents that gateways load. */
  readonly documents?: readonly DocumentReader[];
  /** Rows of this resource that belong to a row of another resource. */
  readonly dependents?: Partial<Dependents>;
  readonly housekeeping?: readonly HousekeepingTask[];
  readonly jobs?: readonly JobKind[];
  /** Run in the transaction that stores request records, in the order of the resources. */
  readonly recordWriters?: readonly RecordWriter[];
  /** Bodies that create one item of this resource through the API. Tests of the API as a whole use them. */
  readonly samples?: readonly Sample[];
}

/** Returns the declaration unchanged. Exists for its type. */
export function defineResource(resource: Resource): Resource {
  return resource;
}

/** Services that documents are read from. */
export interface DocumentSource {
  readonly database: Pick<Database, 'em' | 'ask'>;
  readonly vault: Vault;
  readonly clusterKey: Uint8Array;
}

/** Reads documents of one kind. */
export type DocumentReader = { readonly [Kind in DocumentKind]: ReaderOf<Kind> }[DocumentKind];

interface ReaderOf<Kind extends DocumentKind> {
  readonly kind: Kind;
  /** Returns the document as it is now; null if there is none or the id has another form. */
  read(source: DocumentSource, id: string): Promise<DocumentOf[Kind] | null>;
}

/** Splits the id `<workspace id>/<slug>` of a document; null if the id has another form. */
export function splitDocumentId(id: string): { readonly workspaceId: string; readonly slug: string } | null {
  const slash = id.indexOf('/');
  const workspaceId = id.slice(0, Math.max(slash, 0));
  return isUuid(workspaceId) ? { workspaceId, slug: id.slice(slash + 1) } : null;
}

/** Work that runs once an hour. */
export interface HousekeepingTask {
  /** Names the task in logs. */
  readonly name: string;
  run(services: HousekeepingServices): Promise<unknown>;
}

export interface HousekeepingServices {
  readonly settings: Settings;
  readonly database: Database;
  /** The database that ANALYTICS_URL names; null if it is unset. */
  readonly clickhouse: ClickHouse | null;
  readonly mailer: Mailer;
  readonly log: Log;
  readonly clock: Clock;
  /** True when the control plane is stopping. A long task must then end. */
  isClosing(): boolean;
}

/** A request record that was stored in this transaction, with its price. */
export interface NewRecord {
  readonly record: RequestRecord;
  /** Whole nano-USD. Null: unknown. */
  readonly cost: number | null;
  readonly source: PriceSource | null;
  /** Whole nano-USD: the cost of the call whose reply a cached one repeats, at the prices of the record's time. Absent if there is none. */
  readonly saved?: number;
  /** The record of the same session that this one replaces. Earlier calls have already counted it, so only the difference counts. */
  readonly before?: { readonly record: RequestRecord; readonly cost: number | null };
}

/**
 * Writes what follows from new records: budgets, jobs, roll-ups. Records that were stored before are left out, so a repeated delivery
 * counts nothing twice. The records are in no particular order, and there is at least one. If it throws, no record of the batch is
 * stored and each is tried alone.
 */
export type RecordWriter = (tx: EntityManager, rows: readonly NewRecord[], nowMs: number) => Promise<void>;

export interface JobKind {
  readonly kind: string;
  handler(services: AdminServices): JobHandler;
}

/** Paths and bodies that create, find and change an item of a resource through the API. */
export interface Sample {
  /** Path of the create route, as in the API description. */
  readonly create: string;
  /** Path of the item; null if an item cannot be read alone. */
  readonly item: string | null;
  /** Path of the list that shows the item. */
  readonly list: string;
  /** Returns a valid body for the n-th item. Replies must show `mark` in one of their texts. */
  body(tenant: SampleTenant, made: SamplesMade, n: number, mark: string): Record<string, unknown>;
  /** Returns a valid change; null if there is no PUT. */
  update(tenant: SampleTenant, made: SamplesMade, mark: string): Record<string, unknown> | null;
  /** Returns the body of the DELETE for the n-th item. Absent: DELETE takes no body. */
  remove?(n: number, mark: string): Record<string, unknown>;
  /** True if the item belongs to a workspace, which requests with organisation keys must then name. */
  readonly ofWorkspace: boolean;
  /** Set if lists still show the item after its deletion, as ended. */
  readonly staysListed?: true;
  /** Set if items have no text of the caller, so that replies cannot show `mark`. */
  readonly hasNoText?: true;
  /** Returns the name of the item in the path, from the reply to the create. */
  idOf(reply: Readonly<Record<string, unknown>>): string;
}

export interface SampleTenant {
  readonly workspaceId: string;
}

/** Names of the samples created before this one, by the path of their create route. */
export type SamplesMade = Readonly<Record<string, string>>;

/** The `id` of a create reply, below `data` in replies that have it. */
export function idOfReply(reply: Readonly<Record<string, unknown>>): string {
  return String(inner(reply).id);
}

/** Like `idOfReply`, for items that paths name by slug. */
export function slugOfReply(reply: Readonly<Record<string, unknown>>): string {
  return String(inner(reply).slug);
}

function inner(reply: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return (reply.data as Readonly<Record<string, unknown>> | undefined) ?? reply;
}
