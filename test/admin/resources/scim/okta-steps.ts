import { patch } from '../../support/scim-client.ts';
import type { Step } from './directory-step.ts';

const user = 'urn:ietf:params:scim:schemas:core:2.0:User';
const group = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const list = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const error = 'urn:ietf:params:scim:api:messages:2.0:Error';

const newUser = (more: object = {}) => ({
  schemas: [user],
  userName: 'grace.hopper@okta.example',
  name: { givenName: 'Grace', familyName: 'Hopper' },
  emails: [{ primary: true, value: 'grace.hopper@okta.example', type: 'work' }],
  displayName: 'Grace Hopper',
  locale: 'en-US',
  externalId: '00ujl29u0le5T6Aj10h7',
  groups: [],
  password: '1mz050nq',
  active: true,
  ...more,
});

/** Steps of Okta's published specification test, and of the requests that its provisioning and group push send. */
export const oktaSteps: readonly Step[] = [
  {
    what: 'Users endpoint',
    send: ['GET', '/Users?count=1&startIndex=1'],
    status: 200,
    reply: { schemas: [list], itemsPerPage: 1, startIndex: 1, Resources: [{ active: true }] },
    save: { existing: 'Resources[0].id' },
  },
  { what: 'Groups endpoint', send: ['GET', '/Groups?startIndex=1&count=100'], status: 200, reply: { schemas: [list] } },
  { what: 'existing user', send: ['GET', '/Users/{{existing}}'], status: 200, reply: { id: '{{existing}}' } },
  {
    what: 'user name that does not exist',
    send: ['GET', '/Users?filter=userName eq "abcdefgh@atko.example"&startIndex=1&count=100'],
    status: 200,
    reply: { schemas: [list], totalResults: 0, Resources: [] },
  },
  {
    what: 'id that does not exist',
    send: ['GET', '/Users/010101001010101011001010101011'],
    status: 404,
    reply: { schemas: [error], status: '404', detail: 'User not found' },
  },
  {
    what: 'create user',
    send: ['POST', '/Users', newUser()],
    status: 201,
    reply: {
      schemas: [user],
      active: true,
      name: { givenName: 'Grace', familyName: 'Hopper' },
      userName: 'grace.hopper@okta.example',
    },
    save: { user: 'id' },
  },
  { what: 'created user', send: ['GET', '/Users/{{user}}'], status: 200, reply: { name: { familyName: 'Hopper' } } },
  {
    what: 'create user again',
    send: ['POST', '/Users', newUser()],
    status: 409,
    reply: { schemas: [error], scimType: 'uniqueness', status: '409' },
  },
  {
    what: 'user name in capitals',
    send: ['GET', '/Users?filter=userName eq "GRACE.HOPPER@OKTA.EXAMPLE"'],
    status: 200,
    reply: { totalResults: 1 },
  },
  {
    what: 'without a token',
    send: ['GET', '/Users?filter=userName eq "x"'],
    status: 401,
    reply: { schemas: [error], status: '401' },
    withToken: 'non-token',
  },
  {
    what: 'profile update',
    send: [
      'PUT',
      '/Users/{{user}}',
      newUser({ id: '{{user}}', name: { givenName: 'Grace', middleName: 'B.', familyName: 'Murray' } }),
    ],
    status: 200,
    reply: { id: '{{user}}', name: { familyName: 'Murray' }, active: true },
  },
  {
    what: 'deactivation',
    send: ['PATCH', '/Users/{{user}}', patch({ op: 'replace', value: { active: false } })],
    status: 200,
    reply: { id: '{{user}}', active: false },
  },
  {
    what: 'deactivated user',
    send: ['GET', '/Users?filter=userName eq "grace.hopper@okta.example"&startIndex=1&count=100'],
    status: 200,
    reply: { totalResults: 1, Resources: [{ id: '{{user}}', active: false }] },
  },
  {
    what: 'reactivation with the whole profile',
    send: ['PUT', '/Users/{{user}}', newUser({ id: '{{user}}' })],
    status: 200,
    reply: { active: true, name: { familyName: 'Hopper' } },
  },
  {
    what: 'password change, which is ignored',
    send: ['PATCH', '/Users/{{user}}', patch({ op: 'replace', value: { password: 'new-1mz050nq' } })],
    status: 200,
    reply: { id: '{{user}}' },
  },
  {
    what: 'group push finds no group',
    send: ['GET', '/Groups?filter=displayName eq "Okta admins"&startIndex=1&count=100'],
    status: 200,
    reply: { totalResults: 0 },
  },
  {
    what: 'group push creates',
    send: ['POST', '/Groups', { schemas: [group], displayName: 'Okta admins', members: [] }],
    status: 201,
    reply: { schemas: [group], displayName: 'Okta admins', members: [] },
    save: { group: 'id' },
  },
  {
    what: 'group push renames with the id in the value',
    send: ['PATCH', '/Groups/{{group}}', patch({ op: 'replace', value: { id: '{{group}}', displayName: 'Okta people' } })],
    status: 204,
  },
  {
    what: 'group push adds members',
    send: [
      'PATCH',
      '/Groups/{{group}}',
      patch({ op: 'add', path: 'members', value: [{ value: '{{user}}', display: 'grace.hopper@okta.example' }] }),
    ],
    status: 204,
  },
  {
    what: 'pushed group',
    send: ['GET', '/Groups/{{group}}?attributes=displayName,members.value,members.display'],
    status: 200,
    reply: { displayName: 'Okta people', members: [{ value: '{{user}}', display: 'grace.hopper@okta.example' }] },
  },
  {
    what: 'group push removes one and adds none',
    send: [
      'PATCH',
      '/Groups/{{group}}',
      patch({ op: 'remove', path: 'members[value eq "{{user}}"]' }, { op: 'add', path: 'members', value: [] }),
    ],
    status: 204,
  },
  {
    what: 'group push replaces all members',
    send: ['PATCH', '/Groups/{{group}}', patch({ op: 'replace', path: 'members', value: [{ value: '{{user}}' }] })],
    status: 204,
  },
  {
    what: 'group push as a whole',
    send: [
      'PUT',
      '/Groups/{{group}}',
      { schemas: [group], id: '{{group}}', displayName: 'Okta people', members: [{ value: '{{user}}' }] },
    ],
    status: 200,
    reply: { members: [{ value: '{{user}}' }] },
  },
  {
    what: 'user with groups',
    send: ['GET', '/Users/{{user}}'],
    status: 200,
    reply: { groups: [{ value: '{{group}}', display: 'Okta people' }] },
  },
  { what: 'group removed', send: ['DELETE', '/Groups/{{group}}'], status: 204 },
];
