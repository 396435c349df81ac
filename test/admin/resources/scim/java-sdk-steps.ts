import { patch } from '../../support/scim-client.ts';
import type { Step } from './directory-step.ts';

const searchRequest = ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'];

/** Requests as the client of the Java library SCIM-SDK 1.30.0 sends them. It writes numbers as texts, and objects in a list. */
export const javaSdkSteps: readonly Step[] = [
  {
    what: 'creates a user',
    send: [
      'POST',
      '/Users',
      {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        externalId: 'ext-java',
        userName: 'java@example.com',
        name: { familyName: 'Va', givenName: 'Ja' },
        nickName: 'jj',
        preferredLanguage: 'de',
        active: true,
        emails: [{ type: 'work', primary: true, value: 'java@example.com' }],
        phoneNumbers: [{ value: '+49 1' }],
      },
    ],
    status: 201,
    save: { javaId: 'id' },
  },
  {
    what: 'searches a page with texts as numbers',
    send: [
      'POST',
      '/Users/.search',
      {
        schemas: searchRequest,
        filter: 'emails.value SW "java" and active EQ "true"',
        ...{ startIndex: '1', count: '5', sortBy: 'userName', sortOrder: 'ascending' },
      },
    ],
    status: 200,
    reply: { totalResults: 1, startIndex: 1, Resources: [{ id: '{{javaId}}' }] },
  },
  {
    what: 'names the field of a text that is no number',
    send: ['POST', '/Users/.search', { schemas: searchRequest, count: 'five' }],
    status: 400,
    reply: { detail: 'count: a whole number is expected' },
  },
  {
    what: 'deactivates a user with an object in a list',
    send: [
      'PATCH',
      '/Users/{{javaId}}',
      patch({
        op: 'replace',
        value: [{ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], displayName: 'Jay', active: false }],
      }),
    ],
    status: 200,
    reply: { displayName: 'Jay', active: false },
  },
  {
    what: 'refuses an element of a list without a path',
    send: ['PATCH', '/Users/{{javaId}}', patch({ op: 'add', value: [{ value: 'java@example.com', type: 'work' }] })],
    status: 400,
    reply: { scimType: 'noTarget', detail: 'Operations[0].path: required for an element of a list' },
  },
  {
    what: 'refuses a list of two objects',
    send: ['PATCH', '/Users/{{javaId}}', patch({ op: 'replace', value: [{ active: true }, { title: 'Boss' }] })],
    status: 400,
    reply: { detail: 'Operations[0].value: an object is expected if there is no path' },
  },
];
