import type { Sample, SamplesMade } from '../../../admin/define-resource.ts';
import type { AdminRoute } from '../../../admin/http/route.ts';
import { adminRoutes, samples } from '../../../admin/tables.ts';
import type { Tenant } from '../support/plane.ts';

/** One request that names something of another tenant. */
export interface Step {
  readonly route: AdminRoute;
  /** The foreign part of the request. */
  readonly what: string;
  readonly path: string;
  readonly body?: unknown;
}

/** Everything of a tenant that requests can name. */
export interface Belongings extends Tenant {
  readonly made: SamplesMade;
  /** Ids by the name of the path parameter, for resources without a sample. */
  readonly others: Readonly<Record<string, string>>;
}

/** Every request that must not reach the victim, built from the list of routes. */
export function stepsOf(attacker: Belongings, victim: Belongings): Step[] {
  return adminRoutes.flatMap((route) => [
    ...itemSteps(route, attacker, victim),
    ...querySteps(route, victim, attacker),
    ...bodySteps(route, attacker, victim),
    ...ownItemSteps(route, attacker, victim),
  ]);
}

/** Returns true if a request of the route can name something with an owner: in its path, or as a tenant in the query or body. */
export function canName(route: AdminRoute, tenants: readonly ('workspace_id' | 'organisation_id')[]): boolean {
  if (route.path.startsWith('/utils/') || isSameAsRequests(route)) return false;
  const entries = { ...entriesOf(route.query), ...entriesOf(route.body) };
  return route.path.includes('/:') || tenants.some((name) => name in entries);
}

/** One graph stands for all: they are one declaration with one way to select requests. */
function isSameAsRequests({ path }: AdminRoute): boolean {
  return path.startsWith('/analytics/graphs/') && path !== '/analytics/graphs/requests';
}

/** Names of providers, models, metadata keys and dimensions have no owner. */
function hasPlainNames({ path }: AdminRoute): boolean {
  return ['/utils/model-configs/', '/analytics/', '/logs/groups/', '/logs/metadata/'].some((start) => path.startsWith(start));
}

/** The part of the query that a route requires, with `&` at its end. */
export function requiredQuery(path: string): string {
  if (path === '/audit-logs') return 'start_time=2020-01-01T00:00:00Z&end_time=2099-01-01T00:00:00Z&';
  if (!path.startsWith('/analytics/')) return '';
  // The records of both tenants are new.
  return `time_of_generation_min=${daysFromNow(-28)}&time_of_generation_max=${daysFromNow(1)}&`;
}

function daysFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}

/** Path parameters that name the victim's items, with a valid body. */
function* itemSteps(route: AdminRoute, attacker: Belongings, victim: Belongings): Generator<Step> {
  const params = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
  if (params.length === 0 || hasPlainNames(route)) return;
  for (const name of new Set(namesFor(route, params.at(-1) ?? '', victim))) {
    const path = withQuery(route, fill(route, victim, name), attacker);
    yield { route, what: `names ${name} in the path`, path, ...bodyOf(route, attacker) };
  }
}

/** Returns the ids for a parameter: its own id if there is one, otherwise ids of related resources, otherwise ids of a few kinds. */
function namesFor(route: AdminRoute, param: string, victim: Belongings): readonly string[] {
  const known = idOfParam(param, victim);
  if (known !== null) return [known];
  const named = relatedSamples(route) ?? samples.filter(({ create }) => isOfEveryKind || ofFewKinds.includes(create));
  return named.flatMap((sample) => victim.made[sample.create] ?? []);
}

const isOfEveryKind = process.env.LONG_TESTS !== undefined;

/** Items whose ids are sent as parameters that belong to no sample. No route takes the id of another kind of item. */
const ofFewKinds = ['/configs', '/prompts', '/admin/users'];

/**
 * Returns the samples whose ids a route is sent: those of the longest list that its path is below, so that routes of partials get ids of partials and
 * not of prompts. With LONG_TESTS, and if the path is below no list, all samples with the same first folder. Null if there are none.
 */
function relatedSamples(route: AdminRoute): readonly Sample[] | null {
  const [, first] = route.path.split('/');
  const related = samples.filter((sample) => sample.list.split('/')[1] === first);
  const above = related.map(({ list }) => list).filter((list) => route.path.startsWith(`${list}/`));
  const longest = Math.max(...above.map((list) => list.length));
  if (related.length === 0) return null;
  return isOfEveryKind || above.length === 0 ? related : related.filter(({ list }) => list.length === longest);
}

function idOfParam(param: string, tenant: Belongings): string | null {
  if (param === 'workspaceId' || param === 'workspace') return tenant.workspaceId;
  if (param === 'organisationId') return tenant.organisationId;
  if (param === 'userId') return tenant.made['/admin/users'] ?? null;
  if (param === 'labelId') return tenant.made['/labels'] ?? null;
  if (param === 'inviteId') return tenant.made['/admin/users/invites'] ?? null;
  return tenant.others[param] ?? null;
}

/** All parameters are the victim's. The last one is `name`. */
function fill(route: AdminRoute, victim: Belongings, name: string): string {
  const last = route.path.lastIndexOf('/:');
  const isLast = (at: number) => at === last + 1;
  const own = samples.find((sample) => route.path.startsWith(`${sample.list}/:`));
  return route.path.replace(/:(\w+)/g, (_, param: string, at: number) => {
    if (isLast(at)) return name;
    return idOfParam(param, victim) ?? (own ? (victim.made[own.create] ?? name) : name);
  });
}

/** Routes of a workspace get the attacker's workspace, so that only the item is foreign. */
function withQuery(route: AdminRoute, path: string, attacker: Belongings): string {
  const entries = entriesOf(route.query);
  if ('slugs' in entries) return `${path}?slugs=attacker`;
  if ('with' in entries) return `${path}?with=${attacker.workspaceId}`;
  const knows = 'workspace_id' in entries;
  return knows && route.tenant === 'workspace' && route.method !== 'POST' ? `${path}?workspace_id=${attacker.workspaceId}` : path;
}

/** The tenant of the victim in the query, on routes without parameters, so that no other check rejects first. */
function* querySteps(route: AdminRoute, victim: Belongings, attacker: Belongings): Generator<Step> {
  if (isSameAsRequests(route) || (route.path.includes(':') && (route.path.startsWith('/utils/') || !hasPlainNames(route))))
    return;
  const entries = entriesOf(route.query);
  const path = `${route.path.replace(':groupBy', 'model').replace(':metadataKey', 'team')}?${requiredQuery(route.path)}`;
  const body = route.body ? bodyOf(route, attacker, false) : {};
  for (const name of ['workspace_id', 'organisation_id'] as const) {
    if (!(name in entries)) continue;
    const value = name === 'workspace_id' ? victim.workspaceId : victim.organisationId;
    yield { route, what: `names ${name} in the query`, path: `${path}${name}=${value}`, ...body };
  }
}

/** Each reference in a valid body, replaced by the victim's. */
function* bodySteps(route: AdminRoute, attacker: Belongings, victim: Belongings): Generator<Step> {
  const sample = samples.find((one) => one.create === route.path.replace(/:(\w+)/g, '{$1}'));
  if (!sample || route.method !== 'POST') return;
  const own = sample.body(attacker, attacker.made, 7, 'attacker');
  const foreign = sample.body(victim, victim.made, 7, 'attacker');
  for (const change of differences(own, foreign)) {
    yield { route, what: `names ${change.at} in the body`, path: route.path, body: change.body };
  }
  for (const name of ['workspace_id', 'organisation_id'] as const) {
    if (name in own || !(name in entriesOf(route.body))) continue;
    const value = name === 'workspace_id' ? victim.workspaceId : victim.organisationId;
    yield { route, what: `names ${name} in the body`, path: route.path, body: { ...own, [name]: value } };
  }
}

/** Each reference in a change of the attacker's own item, replaced by the victim's. */
function* ownItemSteps(route: AdminRoute, attacker: Belongings, victim: Belongings): Generator<Step> {
  const last = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '').at(-1);
  if (last === undefined || !route.body) return;
  const own = bodyOf(route, attacker).body;
  for (const change of differences(own, bodyOf(route, victim).body)) {
    for (const name of new Set(namesFor(route, last, attacker))) {
      const item = fill(route, attacker, name);
      // A tenant cannot be named twice.
      const path = change.at === 'workspace_id' ? item : withQuery(route, item, attacker);
      yield { route, what: `names ${change.at} in the body for one's own ${name}`, path, body: change.body };
    }
  }
}

/** Copies of `own`, each with one leaf from `foreign`. */
function differences(own: unknown, foreign: unknown, at = ''): { at: string; body: unknown }[] {
  if (typeof own !== 'object' || own === null || typeof foreign !== 'object' || foreign === null) {
    return own === foreign ? [] : [{ at, body: foreign }];
  }
  const entries = Object.entries(own);
  return entries.flatMap(([key, value]) =>
    differences(value, (foreign as Record<string, unknown>)[key], at === '' ? key : `${at}.${key}`).map((inner) => {
      const copy = Array.isArray(own) ? [...own] : { ...own };
      (copy as Record<string, unknown>)[key] = inner.body;
      return { at: inner.at, body: copy };
    }),
  );
}

/** A body that matches the route's schema: from its sample, otherwise from the table below. Throws if there is none. */
function bodyOf(route: AdminRoute, attacker: Belongings, tell = true): { body?: unknown } {
  const path = route.path.replace(/:(\w+)/g, '{$1}');
  const name = `${route.method} ${path}`;
  if (!route.body) return route.method === 'DELETE' || route.method === 'GET' ? {} : { body: {} };
  const body = bodies[name]?.(attacker) ?? sampleBody(route.method, path, attacker);
  if (!body) throw new Error(`the walk needs a body for ${name}: add it to test/admin/isolation/walk.ts or to the samples`);
  if (tell) return { body };
  // The tenant is already named in the query. The workspace in the body of an organisation's route is a reference, and may be required.
  const { workspace_id: workspaceId, organisation_id: _, ...rest } = body;
  return { body: route.tenant === 'organisation' && workspaceId !== undefined ? { workspace_id: workspaceId, ...rest } : rest };
}

function sampleBody(method: string, path: string, attacker: Belongings): Record<string, unknown> | null {
  const creates = (sample: Sample) => method === 'POST' && sample.create === path;
  const updates = (sample: Sample) => method === 'PUT' && sample.item === path;
  const sample = samples.find((one) => creates(one) || updates(one));
  if (!sample) return null;
  return method === 'POST'
    ? sample.body(attacker, attacker.made, 9, 'attacker')
    : sample.update(attacker, attacker.made, 'attacker');
}

const toolFlag = { name: 'attacker', type: 'tool', enabled: false };

/** Bodies of routes that are neither create nor update. */
const bodies: Readonly<Record<string, (attacker: Belongings) => Record<string, unknown>>> = {
  'POST /auth/second-factors/enrolments': () => ({ kind: 'totp', name: 'attacker', current_password: 'x' }),
  'POST /auth/second-factors/{factorId}/confirm': () => ({ passcode: '000000' }),
  'DELETE /auth/second-factors/{factorId}': () => ({ current_password: 'x' }),
  'POST /auth/recovery-codes': () => ({ current_password: 'x' }),
  'POST /auth/logout': () => ({}),
  'POST /scim/tokens/{scimTokenId}/rotate': () => ({}),
  'POST /admin/sso-connections/{ssoConnectionId}/rotate-key': () => ({ step: 'add' }),
  'POST /scim/{organisationId}/Users': () => ({ userName: 'attacker-scim@example.com' }),
  'POST /scim/{organisationId}/Users/.search': () => ({}),
  'PUT /scim/{organisationId}/Users/{userId}': () => ({ userName: 'attacker-scim@example.com' }),
  'PATCH /scim/{organisationId}/Users/{userId}': () => ({ Operations: [] }),
  'POST /scim/{organisationId}/Groups': () => ({ displayName: 'attacker' }),
  'POST /scim/{organisationId}/Groups/.search': () => ({}),
  'PUT /scim/{organisationId}/Groups/{groupId}': () => ({ displayName: 'attacker' }),
  'PATCH /scim/{organisationId}/Groups/{groupId}': () => ({ Operations: [] }),
  'POST /webhooks/{slug}/rotate-secret': ({ workspaceId }) => ({ workspace_id: workspaceId }),
  'POST /webhooks/{slug}/test': ({ workspaceId }) => ({ workspace_id: workspaceId }),
  'POST /webhooks/{slug}/deliveries/{deliveryId}/replay': ({ workspaceId }) => ({ workspace_id: workspaceId }),
  'POST /prompts/test-sets/{testSetId}/runs': ({ workspaceId, made }) => ({
    workspace_id: workspaceId,
    prompt: made['/prompts'],
  }),
  'POST /prompts/test-runs/{testRunId}/cancel': ({ workspaceId }) => ({ workspace_id: workspaceId }),
  'POST /logs': ({ workspaceId }) => ({
    workspace_id: workspaceId,
    request: { url: 'https://api.openai.com/v1/chat/completions', body: {} },
    response: { body: {} },
  }),
  'POST /otel/v1/traces': () => ({ resourceSpans: [] }),
  'POST /logs/{id}/replay': ({ workspaceId }) => ({ workspace_id: workspaceId, model: 'm' }),
  'POST /otel/v1/logs': () => ({ resourceLogs: [] }),
  'POST /logs/otel/v1/traces': () => ({ resourceSpans: [] }),
  'POST /logs/otel/v1/logs': () => ({ resourceLogs: [] }),
  'POST /integrations/test': () => ({ ai_provider_id: 'mock' }),
  'POST /integrations/{slug}/test': () => ({}),
  'PUT /integrations/{slug}/models': () => ({ models: [{ slug: 'attacker', enabled: true }] }),
  'DELETE /integrations/{slug}/models': () => ({ models: ['attacker'] }),
  'DELETE /integrations/{slug}/integration-models': () => ({ models: ['attacker'] }),
  'PUT /integrations/{slug}/integration-models': () => ({ models: [{ slug: 'attacker', enabled: true }] }),
  'POST /virtual-keys/migrate': () => ({ virtual_key_id: 'attacker' }),
  'POST /auth/password': () => ({ current_password: 'does not matter', new_password: 'neither does this one' }),
  'PUT /organisations/self': () => ({ name: 'attacker' }),
  'PUT /organisations/{organisationId}/auth-settings': () => ({ disable_auto_provision_user: true }),
  'PUT /prompts/{promptId}/makeDefault': () => ({ version: 1 }),
  'PUT /prompts/{promptId}/versions/{promptVersionId}': ({ made }) => ({ label_id: made['/labels'] }),
  'PUT /prompts/{promptId}/labels/{labelId}': () => ({ version: 1 }),
  'POST /prompts/{promptId}/labels/{labelId}/revert': () => ({}),
  'POST /prompts/{promptId}/share': () => ({ shared_with: 'organisation' }),
  'PUT /prompts/{promptId}/share': () => ({ shared_with: 'organisation' }),
  'POST /prompts/{promptId}/unshare': () => ({}),
  'POST /prompts/{promptId}/fork': ({ made }) => ({ collection_id: made['/collections'] }),
  'POST /prompts/partials/{promptPartialId}/share': () => ({ shared_with: 'organisation' }),
  'PUT /prompts/partials/{promptPartialId}/share': () => ({ shared_with: 'organisation' }),
  'POST /prompts/partials/{promptPartialId}/unshare': () => ({}),
  'POST /prompts/partials/{promptPartialId}/fork': ({ made }) => ({ collection_id: made['/collections'] }),
  'PUT /tools/{toolId}/makeDefault': () => ({ version: 1 }),
  'PUT /prompts/partials/{promptPartialId}/makeDefault': () => ({ version: 1 }),
  'PUT /batches/{id}': () => ({ internal_output_file_id: 'attacker' }),
  'PUT /admin/organisation/defaults': () => ({ input_guardrails: [] }),
  'PUT /plugins/{pluginId}': () => ({ name: 'attacker' }),
  'POST /guardrails/test': ({ workspaceId, made }) => ({ workspace_id: workspaceId, guardrail: made['/guardrails'], text: 'x' }),
  'POST /users': ({ workspaceId }) => ({
    email: 'attacker-9@example.com',
    role: 'member',
    workspaces: [{ id: workspaceId, role: 'member' }],
  }),
  'POST /users/send-verification-email': () => ({ email: 'nobody@example.com' }),
  'POST /admin/users/invites/{inviteId}/resend': () => ({}),
  'POST /admin/users/{userId}/password-reset': () => ({}),
  'DELETE /admin/workspaces/{workspaceId}': () => ({ name: 'victim' }),
  'DELETE /workspaces/{workspaceId}': () => ({ name: 'victim' }),
  'POST /admin/workspaces/{workspaceId}/users': ({ made }) => ({ users: [{ id: made['/admin/users'], role: 'member' }] }),
  'PUT /admin/workspaces/{workspaceId}/users/{userId}': () => ({ role: 'manager' }),
  'POST /workspaces/{workspaceId}/users': ({ made }) => ({ users: [{ id: made['/admin/users'], role: 'member' }] }),
  'PUT /workspaces/{workspaceId}/users/{userId}': () => ({ role: 'manager' }),
  'PUT /workspace-exclusions/input-guardrails': ({ workspaceId }) => ({
    workspaces: [{ workspace_id: workspaceId, excluded: true }],
  }),
  'PUT /workspace-exclusions/output-guardrails': ({ workspaceId }) => ({
    workspaces: [{ workspace_id: workspaceId, excluded: true }],
  }),
  'PUT /integrations/{slug}/workspaces': ({ workspaceId }) => ({ workspaces: [{ id: workspaceId, enabled: true }] }),
  'PUT /guardrails/{guardrailId}/mcp-servers': () => ({ mcp_servers: {} }),
  'PUT /guardrails/{guardrailId}/mcp-servers/{mcpServerId}': () => ({ run_on: ['input'] }),
  'PUT /mcp-integrations/{mcpIntegrationId}/workspaces': ({ workspaceId }) => ({
    workspaces: [{ id: workspaceId, enabled: true }],
  }),
  'PUT /mcp-integrations/{mcpIntegrationId}/capabilities': () => ({ capabilities: [toolFlag] }),
  'POST /mcp-integrations/{mcpIntegrationId}/sync': () => ({ capabilities: [{ name: 'attacker', type: 'tool' }] }),
  'POST /mcp-integrations/{mcpIntegrationId}/test': () => ({}),
  'PUT /mcp-integrations/{mcpIntegrationId}/tool-approvals': () => ({ tools: [{ name: 'attacker', hash: null }] }),
  'PUT /mcp-servers/{mcpServerId}/capabilities': () => ({ capabilities: [toolFlag] }),
  'PUT /mcp-servers/{mcpServerId}/user-access': () => ({ default_user_access: 'deny' }),
  'POST /mcp-servers/{mcpServerId}/test': () => ({}),
  'PUT /agent-integrations/{agentIntegrationId}/workspaces': ({ workspaceId }) => ({
    workspaces: [{ id: workspaceId, enabled: true }],
  }),
  'PUT /agent-integrations/{agentIntegrationId}/skills': () => ({ skills: [{ id: 'attacker', enabled: false }] }),
  'POST /agent-integrations/fetch-agent-card': () => ({ endpoint: 'http://127.0.0.1:1' }),
  'PUT /agent-servers/{agentServerId}/skills': () => ({ skills: [{ id: 'attacker', enabled: false }] }),
  'PUT /agent-servers/{agentServerId}/user-access': () => ({ default_user_access: 'deny' }),
  'POST /agent-servers/{agentServerId}/test': () => ({}),
  'POST /api-keys/{id}/rotate': () => ({}),
  'POST /admin/email-domains/{emailDomainId}/verify': () => ({}),
  'PUT /admin/email-domains/{emailDomainId}': () => ({ allow_subdomains: true }),
  'POST /feedback': () => ({ trace_id: 'attacker', value: 1 }),
  'PUT /feedback/{feedbackId}': () => ({ value: 1 }),
};

function entriesOf(schema: unknown): Record<string, unknown> {
  return (schema as { readonly entries?: Record<string, unknown> } | null)?.entries ?? {};
}
