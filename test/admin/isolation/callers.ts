import { scopesByType } from '../../../admin/access/scopes.ts';
import { newSigningKey, signToken } from '../../support/samples/tokens.ts';
import { newPerson } from '../support/people.ts';
import type { Plane } from '../support/plane.ts';

/** The callers: a name for reports, and the key or token they use. */
export type Callers = ReadonlyMap<string, string>;

/** All callers of the first workspace of the organisation: its roles and its types of keys. */
export async function workspaceCallers(plane: Plane): Promise<Callers> {
  const { workspaceId } = plane;
  const callers = new Map<string, string>();
  callers.set('a workspace key', plane.workspaceKey);
  for (const role of ['admin', 'manager', 'member', 'viewer'] as const) {
    const person = await newPerson(plane, 'member', [{ id: workspaceId, role }]);
    callers.set(`a workspace ${role}`, person.token);
    callers.set(`the key of a workspace ${role}`, await keyOf(plane, person.id));
    if (role === 'admin') for (const [who, token] of await tokensFor(plane, person.email)) callers.set(who, token);
  }
  callers.set('a member without a workspace', (await newPerson(plane, 'member')).token);
  return callers;
}

/** All callers of an organisation: its own, and those of its first workspace. */
export async function organisationCallers(plane: Plane, ofWorkspace: Callers): Promise<Callers> {
  return new Map([
    ['an organisation key', plane.adminKey],
    ['an owner', (await newPerson(plane, 'owner')).token],
    ['an admin', (await newPerson(plane, 'admin')).token],
    ...ofWorkspace,
  ]);
}

/** The key has every scope that its type can hold, so only the tenant can be the reason for a rejection. */
async function keyOf(plane: Plane, userId: string): Promise<string> {
  const scopes = [...scopesByType['workspace-user']];
  const body = { workspace_id: plane.workspaceId, user_id: userId, name: 'attacking key', scopes };
  const made = await plane.ask('POST', '/api-keys/workspace/user', { body });
  if (made.status !== 200) throw new Error(`no key: ${JSON.stringify(made.body)}`);
  return made.body.key as string;
}

/** Signed tokens of the organisation with every possible scope: one without a user, and one of a user. */
async function tokensFor(plane: Plane, email: string): Promise<[who: string, token: string][]> {
  const signing = newSigningKey();
  const body = { jwt: { jwks: { keys: [signing.jwk] } } };
  const put = await plane.ask('PUT', '/organisations/self/auth-settings', { body });
  if (put.status !== 200) throw new Error(`no tokens: ${JSON.stringify(put.body)}`);
  const { organisationId: svc_oid, workspaceId: svc_workspace } = plane;
  const claims = { svc_oid, svc_workspace, scopes: [...scopesByType['workspace-user']] };
  const tokens: [string, string][] = [
    ['a token', signToken(signing, claims)],
    ['a token of a workspace admin', signToken(signing, { ...claims, email_id: email })],
  ];
  for (const [who, token] of tokens) {
    const good = await plane.ask('GET', '/configs', { key: token });
    if (good.status !== 200) throw new Error(`${who} is not taken: ${JSON.stringify(good.body)}`);
  }
  return tokens;
}
