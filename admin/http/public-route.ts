import type { HonoRequest } from 'hono';
import type * as v from 'valibot';
import type { EntityManager } from '../db/open-database.ts';
import type { Change } from '../publish/write-change.ts';
import type { AdminServices } from './admin-services.ts';
import type { RequestOrigin } from './caller/same-origin.ts';
import type { AdminError } from './errors.ts';
import type { RawReply } from './reply/raw-reply.ts';

/** A route without authentication: sign-in, and single-use links. Data, like `AdminRoute`. */
export interface PublicRoute {
  readonly method: 'GET' | 'POST';
  /** Below `/v1` and `/v2`. */
  readonly path: string;
  readonly resource: string;
  readonly action: string;
  /** A line for the API description. */
  readonly summary: string;
  /** Schema of a 200 reply. Strict, so that no other field is sent. */
  readonly reply: v.GenericSchema;
  /** Media type of a reply that is a `RawReply`. */
  readonly alsoProduces?: string;
  /** Converts an error to a page for browsers (`accept: text/html`). Absent: they receive JSON, as programs do. */
  readonly errorPage?: (error: AdminError) => Promise<RawReply>;
  /** True if errors have the form of RFC 6749. */
  readonly hasOAuthErrors?: true;
  /** Absent: the query is ignored. */
  readonly query?: v.GenericSchema;
  /** Null: a body is ignored. */
  readonly body: v.GenericSchema | null;
  /** Reads bodies of other media types than JSON, such as forms. Throws AdminError. */
  readonly readBody?: (request: HonoRequest) => Promise<unknown>;
  /**
   * Returns the person whom a refused request concerns, by a secret in its unchecked body or query or an id in its path, for the audit entry
   * of the refusal. Null: unknown. Absent: refusals have an entry only if the route adds one with `auditRefusal`.
   */
  readonly personOf?: (em: EntityManager, sent: Unchecked) => Promise<KnownPerson | null>;
  handle(call: PublicCall<never>): Promise<unknown>;
}

/** A request before it is checked. */
export interface Unchecked {
  /** Undefined: none, or not readable. */
  readonly body: unknown;
  readonly query: Readonly<Record<string, string>>;
  readonly params: Readonly<Record<string, string>>;
}

/** Owner of the audit trail that receives the change of a public route, once known. */
export interface KnownPerson {
  readonly organisationId: string;
  readonly userId: string | null;
  /** True if anyone can send such a request, because it names the organisation by an id instead of a secret. Limits its refusals' entries. */
  readonly isAnonymous?: true;
}

/** One request without authentication. */
export interface PublicCall<Body, Query = unknown> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** The query as it was sent, for signatures that cover its text. */
  readonly rawQuery: string;
  readonly body: Body;
  readonly clientIp: string;
  readonly userAgent: string | null;
  /** `same` if one of our own pages sent it. Only then may the reply set a session cookie. */
  readonly origin: RequestOrigin;
  /** Reads across organisations: every query must find its rows by a secret, or name the organisation. */
  readonly em: EntityManager;
  readonly services: AdminServices;
  /** Adds a header to the reply. Each value of `set-cookie` is sent. */
  header(name: string, value: string): void;
  /** Returns a header of the request. */
  requestHeader(name: string): string | undefined;
  /** One transaction for this user: rows, audit entry, events. */
  write<T>(person: KnownPerson, work: (change: Change) => Promise<T>): Promise<T>;
  /**
   * Adds an entry about a refusal to the audit trail of this user's organisation, without delaying the reply. `details` replace the
   * request body in the entry. `errorCode` null: the reply is no error.
   */
  auditRefusal(person: KnownPerson, status: number, errorCode: string | null, details?: Readonly<Record<string, unknown>>): void;
  /** Runs work that the reply must not wait for, because its duration would reveal information. Failures are logged. */
  afterwards(work: () => Promise<unknown>): void;
}

/** Ties the types of body and query to those of the handler. */
export function definePublicRoute<
  Body extends v.GenericSchema | null,
  Query extends v.GenericSchema = v.GenericSchema<unknown, unknown>,
>(
  route: Omit<PublicRoute, 'body' | 'query' | 'handle'> & {
    readonly query?: Query;
    readonly body: Body;
    handle(
      call: PublicCall<Body extends v.GenericSchema ? v.InferOutput<Body> : undefined, v.InferOutput<Query>>,
    ): Promise<unknown>;
  },
): PublicRoute {
  return route as unknown as PublicRoute;
}
