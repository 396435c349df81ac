import { patch } from '../../support/scim-client.ts';
import type { Step } from './directory-step.ts';

const user = 'urn:ietf:params:scim:schemas:core:2.0:User';
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const group = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const list = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const error = 'urn:ietf:params:scim:api:messages:2.0:Error';

const empty = { schemas: [list], totalResults: 0, Resources: [], startIndex: 1, itemsPerPage: 0 };

/** A user with the attributes that Entra ID maps by default. Those of the extension and addresses are not stored. */
const newUser = (name: string, more: object = {}) => ({
  schemas: [user, enterprise],
  externalId: `${name}-object-id`,
  userName: `${name}@contoso.example`,
  active: true,
  addresses: [{ primary: false, type: 'work', country: 'Bermuda', formatted: '12 Front Street\nHamilton', postalCode: null }],
  displayName: `${name} of Contoso`,
  emails: [{ primary: true, type: 'work', value: `${name}@contoso.example` }],
  meta: { resourceType: 'User' },
  name: { formatted: `${name} Contoso`, familyName: 'Contoso', givenName: name },
  phoneNumbers: [],
  roles: [],
  title: 'Engineer',
  [enterprise]: { department: 'Research', manager: { value: 'nobody' } },
  ...more,
});

/** Steps of Microsoft's SCIM validator, of its published collection, and of the requests that its provisioning service documents. */
export const entraSteps: readonly Step[] = [
  {
    what: 'connection test',
    send: ['GET', '/Users?filter=userName eq "5171a35d-8264-4d3e-9d1c-3e1a4b0e5d1f"'],
    status: 200,
    reply: empty,
  },
  {
    what: 'connection test without a valid token',
    send: ['GET', '/Users?count=1'],
    status: 401,
    reply: { schemas: [error], status: '401' },
    withToken: 'expired',
  },
  {
    what: 'schemas',
    send: ['GET', '/Schemas'],
    status: 200,
    reply: { schemas: [list], Resources: [{ id: user }, { id: group }] },
  },
  { what: 'resource types', send: ['GET', '/ResourceTypes'], status: 200, reply: { Resources: [{ endpoint: '/Users' }, {}] } },
  { what: 'configuration', send: ['GET', '/ServiceProviderConfig'], status: 200, reply: { patch: { supported: true } } },
  {
    what: 'POST user',
    send: ['POST', '/Users', newUser('omalley')],
    status: 201,
    reply: { userName: 'omalley@contoso.example', active: true, name: { givenName: 'omalley' }, meta: { resourceType: 'User' } },
    save: { first: 'id' },
  },
  {
    what: 'POST user with active as a text and Primary in capitals',
    send: [
      'POST',
      '/Users',
      newUser('emp1', { active: 'True', emails: [{ Primary: 'true', type: 'work', value: 'emp1@contoso.example' }] }),
    ],
    status: 201,
    reply: { active: true, emails: [{ primary: true, value: 'emp1@contoso.example' }] },
    save: { second: 'id' },
  },
  {
    what: 'POST user again',
    send: ['POST', '/Users', newUser('emp1')],
    status: 409,
    reply: { schemas: [error], scimType: 'uniqueness' },
  },
  {
    what: 'POST user without userName',
    send: ['POST', '/Users', newUser('emp2', { userName: undefined })],
    status: 400,
    reply: { detail: 'userName: required' },
  },
  { what: 'POST something that is not JSON', send: ['POST', '/Users', '{ "acve": tre }'], status: 400, reply: { status: '400' } },
  {
    what: 'GET user',
    send: ['GET', '/Users/{{first}}'],
    status: 200,
    reply: { id: '{{first}}', externalId: 'omalley-object-id' },
  },
  { what: 'GET unknown user', send: ['GET', '/Users/{{unknownId}}'], status: 404, reply: { schemas: [error], status: '404' } },
  {
    what: 'GET by userName in other case',
    send: ['GET', '/Users?filter=userName eq "OMALLEY@contoso.example"'],
    status: 200,
    reply: { totalResults: 1, Resources: [{ id: '{{first}}' }] },
  },
  {
    what: 'GET by externalId',
    send: ['GET', '/Users?filter=externalId eq "omalley-object-id"'],
    status: 200,
    reply: { totalResults: 1, Resources: [{ id: '{{first}}' }] },
  },
  {
    what: 'GET by work e-mail',
    send: ['GET', '/Users?filter=emails[type eq "work"].value eq "emp1@contoso.example"'],
    status: 200,
    reply: { totalResults: 1, Resources: [{ id: '{{second}}' }] },
  },
  {
    what: 'GET with an extension and a precedence of and over or',
    send: ['GET', '/Users?filter=name.FamilyName eq "Contoso" and (emails.Value co "example" or emails.Value co "example.org")'],
    status: 200,
    reply: { totalResults: 2 },
  },
  {
    what: 'GET by time',
    send: ['GET', '/Users?filter=meta.Created gt "2015-10-10T14:38:21.8617979-07:00" and userName sw "o"'],
    status: 200,
    reply: { totalResults: 1 },
  },
  {
    what: 'check of the manager, which is not stored',
    send: ['GET', '/Users?filter=id eq "{{first}}" and manager eq "{{second}}"&attributes=id'],
    status: 200,
    reply: empty,
  },
  {
    what: 'GET with attributes',
    send: ['GET', '/Users?attributes=userName,emails&filter=id eq "{{first}}"'],
    status: 200,
    reply: { Resources: [{ id: '{{first}}', userName: 'omalley@contoso.example' }] },
  },
  {
    what: 'PATCH with several operations',
    send: [
      'PATCH',
      '/Users/{{first}}',
      patch(
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'omalley.new@contoso.example' },
        { op: 'Replace', path: 'name.familyName', value: 'Fabrikam' },
        { op: 'Add', path: 'title', value: 'Architect' },
        { op: 'Add', path: `${enterprise}:department`, value: 'Sales' },
      ),
    ],
    status: 200,
    reply: {
      emails: [{ type: 'work', primary: true, value: 'omalley.new@contoso.example' }],
      name: { familyName: 'Fabrikam', givenName: 'omalley' },
      title: 'Architect',
    },
  },
  {
    what: 'PATCH without path, with dotted names',
    send: [
      'PATCH',
      '/Users/{{first}}',
      patch({
        op: 'replace',
        value: { displayName: 'O. M.', 'name.givenName': 'Owen', [`${enterprise}:employeeNumber`]: '7', active: 'True' },
      }),
    ],
    status: 200,
    reply: { displayName: 'O. M.', name: { givenName: 'Owen', familyName: 'Fabrikam' }, active: true },
  },
  {
    what: 'PATCH adds an address of a type that the user does not have',
    send: [
      'PATCH',
      '/Users/{{second}}',
      patch({ op: 'Add', path: 'emails[type eq "other"].value', value: 'e1@contoso.example' }),
    ],
    status: 200,
    reply: { emails: [{ type: 'work' }, { type: 'other', value: 'e1@contoso.example' }] },
  },
  {
    what: 'PATCH removes an attribute',
    send: ['PATCH', '/Users/{{second}}', patch({ op: 'Remove', path: 'title' })],
    status: 200,
    reply: { id: '{{second}}' },
  },
  {
    what: 'PATCH renames',
    send: ['PATCH', '/Users/{{second}}', patch({ op: 'Replace', path: 'userName', value: 'renamed@contoso.example' })],
    status: 200,
    reply: { userName: 'renamed@contoso.example' },
  },
  {
    what: 'PUT user',
    send: ['PUT', '/Users/{{second}}', { id: '{{second}}', ...newUser('emp1', { name: { formatted: 'New Name' } }) }],
    status: 200,
    reply: { userName: 'emp1@contoso.example', name: { formatted: 'New Name' } },
  },
  { what: 'PATCH without operations', send: ['PATCH', '/Users/{{first}}', patch()], status: 200, reply: { id: '{{first}}' } },
  {
    what: 'PATCH disables with a text',
    send: ['PATCH', '/Users/{{first}}', patch({ op: 'Replace', path: 'active', value: 'False' })],
    status: 200,
    reply: { active: false },
  },
  {
    what: 'GET of a disabled user',
    send: ['GET', '/Users?filter=userName eq "omalley@contoso.example"'],
    status: 200,
    reply: { totalResults: 1, Resources: [{ id: '{{first}}', active: false }] },
  },
  {
    what: 'PATCH enables',
    send: ['PATCH', '/Users/{{first}}', patch({ op: 'Add', path: 'active', value: true })],
    status: 200,
    reply: { active: true },
  },
  {
    what: 'POST group',
    send: [
      'POST',
      '/Groups',
      {
        schemas: [group, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
        externalId: 'group-object-id',
        displayName: 'Contoso people',
        members: [],
        meta: { resourceType: 'Group' },
      },
    ],
    status: 201,
    reply: { displayName: 'Contoso people', externalId: 'group-object-id', members: [] },
    save: { group: 'id' },
  },
  {
    what: 'GET group without members',
    send: ['GET', '/Groups/{{group}}?excludedAttributes=members'],
    status: 200,
    reply: { id: '{{group}}' },
  },
  {
    what: 'GET group by name without members',
    send: ['GET', '/Groups?excludedAttributes=members&filter=displayName eq "Contoso people"'],
    status: 200,
    reply: { totalResults: 1, Resources: [{ id: '{{group}}' }] },
  },
  {
    what: 'PATCH adds a member',
    send: ['PATCH', '/Groups/{{group}}', patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: '{{first}}' }] })],
    status: 204,
  },
  {
    what: 'PATCH adds a member as a text',
    send: ['PATCH', '/Groups/{{group}}', { id: '{{group}}', ...patch({ op: 'add', path: 'members', value: '{{second}}' }) }],
    status: 204,
  },
  {
    what: 'check of a member',
    send: ['GET', '/Groups?filter=id eq "{{group}}" and members eq "{{first}}"&attributes=id'],
    status: 200,
    reply: { totalResults: 1, Resources: [{ id: '{{group}}' }] },
  },
  {
    what: 'PATCH removes a member with a value beside the path',
    send: ['PATCH', '/Groups/{{group}}', patch({ op: 'Remove', path: 'members', value: [{ $ref: null, value: '{{first}}' }] })],
    status: 204,
  },
  { what: 'GET group', send: ['GET', '/Groups/{{group}}'], status: 200, reply: { members: [{ value: '{{second}}' }] } },
  {
    what: 'PATCH removes a member with a filter',
    send: ['PATCH', '/Groups/{{group}}', patch({ op: 'Remove', path: 'members[value eq "{{second}}"]' })],
    status: 204,
  },
  {
    what: 'PATCH renames the group',
    send: ['PATCH', '/Groups/{{group}}', patch({ op: 'Replace', path: 'displayName', value: 'Fabrikam people' })],
    status: 204,
  },
  {
    what: 'GET renamed group',
    send: ['GET', '/Groups/{{group}}'],
    status: 200,
    reply: { displayName: 'Fabrikam people', members: [] },
  },
  {
    what: 'PUT group',
    send: ['PUT', '/Groups/{{group}}', { displayName: 'Put people', members: [{ value: '{{second}}', display: 'VP' }] }],
    status: 200,
    reply: { displayName: 'Put people', members: [{ value: '{{second}}' }] },
  },
  { what: 'DELETE user', send: ['DELETE', '/Users/{{first}}'], status: 204 },
  { what: 'DELETE user again', send: ['DELETE', '/Users/{{first}}'], status: 404, reply: { schemas: [error] } },
  { what: 'DELETE group', send: ['DELETE', '/Groups/{{group}}'], status: 204 },
  { what: 'GET deleted group', send: ['GET', '/Groups/{{group}}'], status: 404, reply: { schemas: [error] } },
];
