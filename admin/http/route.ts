import type { HonoRequest } from 'hono';
import type * as v from 'valibot';
import type { Settings } from '../../config/settings.ts';
import type { Clock, Log } from '../../core/contract/plugin/plugin.ts';
import type { RequestRecord } from '../../core/contract/plugin/record/record.ts';
import type { DocumentKind } from '../../core/contract/protocol/documents.ts';
import type { DocumentReply } from '../../core/contract/protocol/internal-api.ts';
import type { ChangeNotice } from '../../core/contract/protocol/notices/change-notice.ts';
import type { RecordContent } from '../../core/contract/protocol/record-contents.ts';
import type { ProxyRules } from '../../core/contract/values/addresses/client-origin.ts';
import type { BackgroundWork } from '../background-work.ts';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import type { Database, EntityManager } from '../db/open-database.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { Dependents } from '../publish/dependents.ts';
import type { Change } from '../publish/write-change.ts';
import type { Vault } from '../secrets/vault.ts';
import type { AnonymousEntries } from './anonymous-entries.ts';
import type { Actor } from './caller/actor.ts';
import type { AttemptLimit } from './caller/attempt-limit.ts';
import type { Callers } from './caller/callers.ts';
import type { RateLimit } from './caller/rate-limit.ts';
import type { AdminError } from './errors.ts';
import type { LogRejection } from './log-rejection.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * One route as data. Its requirements are declared, never decided in its handler. A route without scope, tenant, audit action or
 * reply does not compile and stops the start (`checkRoutes`), so access is denied by default.
 */
export interface AdminRoute {
  readonly method: Method;
  /** Below `/v1` and `/v2`, Hono syntax: `/configs/:slug`. */
  readonly path: string;
  /**
   * Path parameters of the reference that are literal segments here (`/api-keys/{type}/{sub-type}`). Clients repeat them in
   * query or body like any other path parameter.
   */
  readonly fixedParams?: Readonly<Record<string, string>>;
  /** Another path of an operation, for clients that ask for it. The API description marks it as deprecated. */
  readonly isAlias?: true;
  /** The key needs one of these. */
  readonly scopes: readonly string[];
  /**
   * Effect of a session on this route. `suffices`: sessions need none of the scopes; keys still do. `required`: sessions only;
   * keys are refused. Such a route works on the actor's own organisation or account, never on a workspace.
   */
  readonly signedIn?: 'suffices' | 'required';
  /** On `required` routes: a token signed by an organisation is accepted like a session. */
  readonly tokensToo?: true;
  /** On `either` routes: a plain member need not choose a workspace, because the handler reads all of theirs. */
  readonly allMemberships?: true;
  /**
   * Services of the deployment may call it with CLUSTER_KEY instead of an API key. They name the organisation in
   * `organisation_id` unless there is only one.
   */
  readonly dataServiceToo?: true;
  /** Organisation keys may name a deleted workspace, to read its remaining data. */
  readonly deletedToo?: true;
  /**
   * Tenant of the data. `organisation`: organisation keys only. `workspace`: needs a workspace, the key's own or one named by the
   * request. `either`: organisation keys may omit the workspace and then address the whole organisation.
   */
  readonly tenant: 'organisation' | 'workspace' | 'either';
  /**
   * On `workspace` routes whose path or body names an item by slug: the ids of the workspaces that have an active item with this slug.
   * Organisation keys need not name the workspace if there is exactly one.
   */
  readonly workspacesWith?: (em: EntityManager, organisationId: string, slug: string) => Promise<readonly string[]>;
  /** The body member with the id or slug of the item, if the path has none. Used with `workspacesWith`. */
  readonly itemMember?: string;
  readonly resource: string;
  /** A line for the API description. */
  readonly summary: string;
  /** Schema of a 200 reply. Strict, so that no other field is sent. */
  readonly reply: v.GenericSchema;
  /** Media type of the reply instead of JSON, if the client asks for it (`RawReply`). */
  readonly alsoProduces?: string;
  /** Set on routes of a protocol with replies and errors of its own. Their handlers reply with `RawReply`. */
  readonly protocol?: ReplyProtocol;
  /** Replies to errors in the media type that the request has, if it is not JSON. */
  readonly errorReply?: (error: AdminError, headers: Record<string, string>, contentType: string) => Response;
  /** Set on `POST` routes whose repeated requests run again, also with the same `idempotency-key`, because they change nothing or store nothing twice. */
  readonly runsAgain?: true;
  /** Set on `PUT`, `PATCH` and `DELETE` routes that never call `match`, because what they change has no version. */
  readonly hasNoVersion?: true;
  /** Action of the audit entry: `create`, `update`, … */
  readonly action: string;
  readonly query: v.GenericSchema;
  /** Null: a body is ignored. */
  readonly body: v.GenericSchema | null;
  /** Reads bodies of other media types than JSON. They may hold content, so audit entries do not repeat them. Throws AdminError. */
  readonly readBody?: (request: HonoRequest) => Promise<unknown>;
  /** Time limit of a request in milliseconds, if it differs from the common one. */
  readonly deadlineMs?: number;
  handle(call: AdminCall<never, never>): Promise<unknown>;
}

/** Replies of a protocol. */
export interface ReplyProtocol {
  readonly mediaType: string;
  /** Statuses of success. Those without a body are 204 and 304. */
  readonly done: readonly number[];
  /** JSON Schema of the errors. */
  readonly errorSchema: Readonly<Record<string, unknown>>;
  errorReply(error: AdminError, headers: Record<string, string>): Response;
}

interface Readiness {
  /** Reasons why the control plane cannot serve now. Empty when it is ready. */
  readonly reasons: readonly { readonly dependency: string; readonly message: string }[];
  /** Failures that a load balancer should not react to, because a part of the requests still works. */
  readonly warnings: readonly string[];
}

export interface AdminServices {
  readonly callers: Callers;
  readonly settings: Settings;
  readonly log: Log;
  readonly logRejection: LogRejection;
  /** Shown by /ready: no address or secret. */
  readiness(): Promise<Readiness>;
  /** Returns the numbers of gateways that report in time and that do not. Rejects if the database is unreachable. */
  instances(): Promise<{ readonly healthy: number; readonly unhealthy: number }>;
  readonly database: Database;
  readonly vault: Vault;
  /** The store that OBJECT_STORE names; null if it is unset. */
  readonly objects: ObjectStore | null;
  /** The database that ANALYTICS_URL names; null if it is unset. */
  readonly clickhouse: ClickHouse | null;
  /** Reads a document in the form that gateways receive. */
  readonly readDocument: (kind: DocumentKind, id: string) => Promise<DocumentReply>;
  /** Stores request records, each once: prices them, settles them against budgets, and adds them to roll-ups. */
  readonly storeRecords: (
    records: readonly RequestRecord[],
    json?: string,
    /** Runs in the transaction of the records before they are stored. Its error is thrown, and nothing is stored. */
    begin?: (tx: EntityManager) => Promise<void>,
  ) => Promise<{ readonly inserted: number; readonly duplicates: number; readonly refused: readonly string[] }>;
  /** Adds headers and bodies to the spans of their requests, if settings say so. */
  readonly exportContents: (contents: readonly RecordContent[]) => void;
  /** Rows of all resources that belong to a workspace or user. */
  readonly dependents: Dependents;
  readonly apiKeyPepper: Uint8Array;
  /** Source of the time; tests can freeze it. */
  readonly clock: Clock;
  readonly mailer: Mailer;
  readonly background: BackgroundWork;
  /** Returns the TXT records of a name, each in chunks. Rejects with the code of the DNS error. */
  readonly resolveTxt: (name: string) => Promise<readonly (readonly string[])[]>;
  /** Limit of sign-in attempts. */
  readonly attempts: AttemptLimit;
  /** Key of the hashes of the audit chain. */
  readonly auditKey: Uint8Array;
  /** Proxies in front of the control plane whose headers about clients are trusted; null: none. */
  readonly proxies: ProxyRules | null;
  readonly limits: { readonly perKey: RateLimit; readonly perAddress: RateLimit };
  readonly anonymousEntries: AnonymousEntries;
  /** If true (tests), a reply that differs from its schema is an error. If false, unknown fields are removed. */
  readonly strictReplies: boolean;
  /** For tests: time limit of admin requests in milliseconds. Null: that of the route. */
  readonly requestDeadlineMs: number | null;
  /** Adds events about a write in its transaction. Returns true if it added jobs. */
  readonly announceWrite: (tx: EntityManager, write: Write) => Promise<boolean>;
  /** Call after a commit that added a job. */
  readonly wakeJobs: () => void;
  /** Call after a commit: publishes these changes, or all waiting outbox events if none are passed. */
  readonly wakeRelay: (notices?: readonly ChangeNotice[]) => void;
}

/** An item of a workspace that a request has created, changed or deleted. */
export interface Write {
  readonly actor: Pick<Actor, 'organisationId' | 'userId' | 'keyId'>;
  readonly resource: string;
  readonly action: string;
  readonly item: { readonly id: string; readonly slug?: string | null | undefined; readonly workspaceId: string };
}

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

/** Ties the types of the schemas to those of the handler. */
export function defineRoute<Query extends v.GenericSchema, Body extends v.GenericSchema | null>(
  route: Omit<AdminRoute, 'query' | 'body' | 'handle'> & {
    readonly query: Query;
    readonly body: Body;
    handle(
      call: AdminCall<v.InferOutput<Query>, Body extends v.GenericSchema ? v.InferOutput<Body> : undefined>,
    ): Promise<unknown>;
  },
): AdminRoute {
  return route as unknown as AdminRoute;
}
