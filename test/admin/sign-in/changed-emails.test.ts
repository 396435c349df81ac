import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Plane, startPlane } from '../support/plane.ts';
import { type ScimAsk, scimClient } from '../support/scim-client.ts';
import { arrive, newConnection, verifiedDomain } from '../support/sign-in.ts';
import { ruleDatabase } from '../support/test-database.ts';

let plane: Plane;
let scim: ScimAsk;
let connectionId: string;
let workspaceId: string;
beforeAll(async () => {
  plane = await startPlane(ruleDatabase, { ADMIN_REQUESTS_PER_ADDRESS: '0', ADMIN_REQUESTS_PER_KEY: '0' });
  scim = await scimClient(plane);
  workspaceId = (await plane.ask('POST', '/workspaces', { body: { name: 'Of the rule' } })).body.id;
  const group_rules = [{ group: 'staff', workspaces: [{ id: workspaceId, role: 'member' }] }];
  connectionId = await newConnection(plane, { group_rules });
});
afterAll(() => plane?.close());

const addressOf = (name: string) => `${name}@${verifiedDomain}`;

/** A sign-in with an e-mail as NameID. */
const arriveAs = (name: string, groups = ['staff'], email = addressOf(name.toLowerCase())) =>
  arrive(plane, { connectionId, type: 'saml', subject: addressOf(name), subjectIsEmail: true, email, groups });

const rename = (id: string, name: string, more: object = {}) =>
  scim('PUT', `/Users/${id}`, { userName: addressOf(name), emails: [{ value: addressOf(name), primary: true }], ...more });

it('a user whom the directory renamed keeps the account with the new e-mail as NameID', async () => {
  const { user } = await arriveAs('ada.old');
  expect((await rename(user.id, 'ada.new')).status).toBe(200);
  expect((await arriveAs('ada.new')).user).toMatchObject({ id: user.id, email: addressOf('ada.new') });
  const { data } = (await plane.ask('GET', `/admin/users/${user.id}/identities`)).body;
  expect(data).toMatchObject([{ subject: addressOf('ada.new') }]);
  // The account still knows which memberships the rules gave.
  await arriveAs('ada.new', []);
  expect((await plane.ask('GET', `/workspaces/${workspaceId}/users/${user.id}`)).status).toBe(404);
  const successor = (await arriveAs('ada.old')).user;
  expect(successor.id).not.toBe(user.id);
});

it('a person who was given the former e-mail of a user does not sign in as that user', async () => {
  const { user } = await arriveAs('bob');
  expect((await rename(user.id, 'robert')).status).toBe(200);
  await expect(arriveAs('bob')).rejects.toMatchObject({ reason: 'identity_conflict' });
  expect((await scim('POST', '/Users', { userName: addressOf('bob') })).status).toBe(201);
  await expect(arriveAs('bob')).rejects.toMatchObject({ reason: 'identity_conflict' });
});

it.each([
  ['userName', 'carol', (id: string) => rename(id, 'c.mail', { userName: addressOf('carol') })],
  [
    'further addresses',
    'dora',
    (id: string) =>
      rename(id, 'd.mail', { emails: ['d.mail', 'dora'].map((one) => ({ value: addressOf(one), primary: one === 'd.mail' })) }),
  ],
])('an e-mail as NameID is compared with the %s of a user too', async (_, name, change) => {
  const { user } = await arriveAs(name);
  expect((await change(user.id)).status).toBe(200);
  expect((await arriveAs(name)).user.id).toBe(user.id);
});

it('an e-mail as NameID may change its case', async () => {
  const { user } = await arriveAs('erin');
  expect((await arriveAs('Erin')).user.id).toBe(user.id);
});

it('an id in the form of an e-mail is not replaced for a user whom no directory renames', async () => {
  const { user } = await arrive(plane, {
    connectionId,
    type: 'saml',
    subject: 'gina@tenant.example.org',
    email: addressOf('gina'),
    groups: ['staff'],
  });
  // Another person was given the e-mail.
  await expect(arriveAs('gina')).rejects.toMatchObject({ reason: 'identity_conflict' });
  const { data } = (await plane.ask('GET', `/admin/users/${user.id}/identities`)).body;
  expect(data).toMatchObject([{ subject: 'gina@tenant.example.org' }]);
});

it('an id that is no e-mail is not replaced', async () => {
  const { user } = await arrive(plane, {
    connectionId,
    type: 'saml',
    subject: 'id-of-frank',
    email: addressOf('frank'),
    groups: ['staff'],
  });
  expect((await rename(user.id, 'franz')).status).toBe(200);
  await expect(arriveAs('franz')).rejects.toMatchObject({ reason: 'identity_conflict' });
  const again = await arrive(plane, {
    connectionId,
    type: 'saml',
    subject: 'id-of-frank',
    email: addressOf('frank'),
    groups: ['staff'],
  });
  expect(again.user.id).toBe(user.id);
});
