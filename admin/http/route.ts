import type { HonoRequest } from 'hono';
import type * as v from 'valibot';
import type { EntityManager } from '../db/open-database.ts';
import type { AdminCall } from './admin-call.ts';
import type { AdminError } from './errors.ts';

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
