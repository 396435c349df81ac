import { randomBytes, scryptSync } from 'node:crypto';
import type { OrganisationRole, WorkspaceRole } from '../../../admin/http/caller/actor.ts';
import { startSession } from '../../../admin/identity/sessions.ts';
import { users } from '../../../admin/resources/users/entity.ts';
import type { Plane, Reply } from './plane.ts';

/** A signed-in user for tests. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  /** Session token, passed to `ask` as `key`. */
  readonly token: string;
}

let count = 0;

/**
 * Adds a user with a password that is cheap to check, and signs them in. (Real passwords cost a quarter of a second of CPU each;
 * the tests of invites and passwords use those.)
 */
export async function newPerson(
  plane: Plane,
  role: OrganisationRole = 'member',
  workspaces: readonly { readonly id: string; readonly role: WorkspaceRole }[] = [],
): Promise<Person> {
  const email = `person-${++count}@example.com`;
  const password = `correct horse ${count}`;
  const made = await plane.ask('POST', '/users', { body: { email, role, workspaces } });
  if (made.status !== 200) throw new Error(`${made.status} ${JSON.stringify(made.body)}`);
  const em = plane.control.services.database.em();
  const user = await em.findOneOrFail(users, { id: made.body.id });
  user.passwordHash = cheapHash(password);
  const { token } = await startSession(em, user, { clientIp: '127.0.0.1', userAgent: null }, plane.control.services.clock.now());
  await em.flush();
  return { id: user.id, email, password, token };
}

function cheapHash(password: string): string {
  const salt = randomBytes(16);
  const key = scryptSync(password, salt, 32, { N: 2 ** 4, r: 8, p: 1 });
  return `scrypt$4$8$1$${salt.toString('base64url')}$${key.toString('base64url')}`;
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
