import type { HonoRequest } from 'hono';
import { isObject } from '../../../core/contract/values/json/json.ts';
import type { Versioned } from '../admin-call.ts';
import { AdminError, invalid, notFound } from '../errors.ts';
import type { AdminRoute } from '../route.ts';
import { declaredNames, inSnakeCase, withoutPathRepeats } from './path-repeats.ts';
import { readParams, readQuery, readQueryLeniently } from './read-query.ts';
import { validate } from './validate.ts';

/** Parts of a request, checked against the declaration of its route. */
export interface ReadCall {
  readonly params: Record<string, string>;
  readonly query: unknown;
  readonly body: unknown;
  /** Different names of workspaces in query and body. The id and the slug of one workspace are two. */
  readonly workspaceNames: readonly string[];
}

interface Naming {
  readonly workspace_id?: string | null;
  readonly organisation_id?: string;
}

/** Throws AB01 naming a field that the route does not declare, and a 404 for an organisation other than the caller's. */
export function readCall(route: AdminRoute, request: HonoRequest, sent: unknown, organisationId: string): ReadCall {
  const params = readParams(request.param() as Record<string, string>);
  const path = { ...route.fixedParams, ...params };
  const queryNames = declaredNames(route.query);
  const sentQuery = withoutPathRepeats(inSnakeCase(readQuery(request.url), queryNames), path, queryNames);
  const query = validate(route.query, sentQuery, 'query') as Naming;
  const sentBody = withoutPathRepeats(sent ?? {}, path, declaredNames(route.body ?? {}));
  const body = route.body ? (validate(route.body, sentBody, 'body') as Naming | readonly Naming[]) : undefined;
  const [organisation, ...others] = namesIn('organisation_id', query, body);
  if (others.length > 0) throw invalid('organisation_id: query and body contain different values. Send one of them');
  if (organisation !== undefined && organisation.toLowerCase() !== organisationId) throw notFound('Organisation');
  return { params, query, body, workspaceNames: namesIn('workspace_id', query, body) };
}

/** The workspace that query or body name, read without checking anything else. Null: neither names one. */
export function workspaceOfUnchecked(url: string, sent: unknown): string | null {
  const inBody = isObject(sent) ? sent.workspace_id : undefined;
  return readQueryLeniently(url).workspace_id ?? (typeof inBody === 'string' ? inBody : null);
}

/** Path parameters, and as `slug` the item that the body (`itemMember`) or the first parameter names. */
export function namesOf(
  { itemMember, workspacesWith }: AdminRoute,
  { params, body }: Pick<ReadCall, 'params' | 'body'>,
): Readonly<Record<string, string>> {
  const item = itemMember === undefined || !isObject(body) ? undefined : body[itemMember];
  if (typeof item === 'string') return { ...params, slug: item };
  const [first] = Object.values(params);
  return workspacesWith && params.slug === undefined && first !== undefined ? { ...params, slug: first } : params;
}

/** Returns the different names of a tenant in query and body. A body may be a list whose entries name it. */
function namesIn(name: keyof Naming, query: Naming, body: Naming | readonly Naming[] | undefined): string[] {
  const parts = [query, ...(Array.isArray(body) ? body : [body])] as (Naming | undefined)[];
  return [...new Set(parts.flatMap((part) => part?.[name] ?? []))];
}

/** Throws AB01 if the body has `workspace_id: null`, which items of the organisation are read with, and the item belongs to a workspace. */
export function requireOwnerAsSent(body: unknown, { workspaceId }: Versioned): void {
  if (isObject(body) && body.workspace_id === null && workspaceId)
    throw invalid(
      'workspace_id: null is expected for items of the organisation, and this one belongs to a workspace. Leave it out',
    );
}

/** Throws AB12 unless `if-match` is absent or names the revision. */
export function matchRevision(wanted: string | undefined, revision: number): void {
  if (wanted === undefined || wanted.trim() === '*') return;
  if (!namesRevision(wanted, revision))
    throw new AdminError('AB12', 'if-match: the item has changed since this version. Read it again');
}

/** Throws AB01 for an `if-match` that nothing was compared with: the change must not happen as if the condition were met. */
export function requireNoCondition(wanted: string | undefined): void {
  if (wanted !== undefined && wanted.trim() !== '*')
    throw invalid('if-match: this request changes nothing that has a version. Leave the header out');
}

/** Returns true if a list of entity tags names the revision. SCIM has weak tags: a revision identifies the item either way. */
export function namesRevision(tags: string, revision: number): boolean {
  return tags.split(',').some((tag) => tag.trim().replace(/^W\//, '') === `"${revision}"`);
}
