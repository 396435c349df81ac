import type { OrganisationRole, WorkspaceRole } from '../../../admin/access/roles.ts';
import type { Plane, Reply } from './plane.ts';

/** Somebody who is signed in, for tests. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  /** Of a session: what `ask` takes as `key`. */
  readonly token: string;
}

let count = 0;

/** Invites somebody and lets them accept. Owners are appointed by the first admin key afterwards. */
export async function newPerson(
  plane: Plane,
  role: OrganisationRole = 'member',
  workspaces: readonly { readonly id: string; readonly role: WorkspaceRole }[] = [],
): Promise<Person> {
  const email = `person-${++count}@example.com`;
  const body = { email, role: role === 'owner' ? 'admin' : role, workspaces };
  const invited = expectOk(await plane.ask('POST', '/admin/users/invites', { body }));
  const password = `correct horse ${count}`;
  const accepted = expectOk(await accept(plane, tokenOf(invited.body.invite_link), password));
  const { id } = accepted.body.user;
  if (role === 'owner') expectOk(await plane.ask('PUT', `/admin/users/${id}`, { body: { role: 'owner' } }));
  return { id, email, password, token: accepted.body.auth_token };
}

/** The token of a link. */
export function tokenOf(link: string): string {
  return new URL(link).hash.replace(/^#[a-z-]+=/, '');
}

export function accept(plane: Plane, token: string, password = 'correct horse battery'): Promise<Reply> {
  return plane.ask('POST', '/auth/invites/accept', { key: null, body: { token, password } });
}

export function login(plane: Plane, email: string, password: string, headers: Record<string, string> = {}): Promise<Reply> {
  return plane.ask('POST', '/auth/login', { key: null, body: { email, password }, headers });
}

function expectOk(reply: Reply): Reply {
  if (reply.status !== 200) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
  return reply;
}
