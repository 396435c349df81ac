import { pageMax } from './list-query.ts';
import { groupSchema, userSchema } from './urns.ts';

interface Attribute {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly multiValued: boolean;
  readonly required: boolean;
  readonly mutability: 'readOnly' | 'readWrite' | 'immutable';
  readonly returned: 'default' | 'always' | 'request';
  readonly uniqueness: 'none' | 'server';
  readonly caseExact?: boolean;
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
}

const usual = {
  type: 'string',
  multiValued: false,
  required: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
} as const;

function text(name: string, description: string, more: Partial<Attribute> = {}): Attribute {
  return { ...usual, caseExact: false, name, description, ...more };
}

function flag(name: string, description: string): Attribute {
  return { ...usual, type: 'boolean', name, description };
}

function complex(
  name: string,
  description: string,
  subAttributes: readonly Attribute[],
  more: Partial<Attribute> = {},
): Attribute {
  return { ...usual, type: 'complex', name, description, subAttributes, ...more };
}

const readOnly = { mutability: 'readOnly' } as const;
const list = { multiValued: true } as const;
const reference = (type: string): Attribute =>
  text('$ref', 'URI of the resource', { type: 'reference', referenceTypes: [type], caseExact: true, ...readOnly });

const user: readonly Attribute[] = [
  text('userName', 'Name of the user, unique in the organisation', { required: true, uniqueness: 'server' }),
  text('externalId', 'Id in the directory', { caseExact: true }),
  complex('name', 'Parts of the name', [
    text('formatted', 'Full name'),
    text('familyName', 'Last name'),
    text('givenName', 'First name'),
  ]),
  text('displayName', 'Name to show'),
  text('title', 'Job title'),
  // Required, because it always has a value: it cannot be removed. A new user without it is active.
  { ...flag('active', 'False: the user has no access, and no API keys, sessions or memberships'), required: true },
  complex(
    'emails',
    'Addresses; the primary one identifies the account. May be absent if userName is an address',
    [
      text('value', 'Address', { required: true }),
      text('type', 'Kind of address, such as work'),
      flag('primary', 'True for the address of the account'),
    ],
    { ...list, required: true },
  ),
  complex(
    'roles',
    'Role in the organisation, set by its administrators',
    [text('value', 'owner, admin or member', readOnly), { ...flag('primary', 'Always true'), ...readOnly }],
    { ...list, ...readOnly },
  ),
  complex(
    'groups',
    'Groups of the user, changed through the groups unless membership_mode is users',
    [
      text('value', 'Id of the group', { caseExact: true, ...readOnly }),
      text('display', 'Name of the group', readOnly),
      text('type', 'Always direct', readOnly),
      reference('Group'),
    ],
    { ...list, ...readOnly },
  ),
];

const group: readonly Attribute[] = [
  text('displayName', 'Name of the group, unique in the organisation', { required: true, uniqueness: 'server' }),
  text('externalId', 'Id in the directory', { caseExact: true }),
  complex(
    'members',
    'Users of the group',
    [
      text('value', 'Id of the user', { mutability: 'immutable', caseExact: true }),
      text('display', 'Name of the user', { ...readOnly, returned: 'request' }),
      text('type', 'Always User', { mutability: 'immutable', canonicalValues: ['User'] }),
      { ...reference('User'), mutability: 'immutable' },
    ],
    list,
  ),
];

const schemaSchema = 'urn:ietf:params:scim:schemas:core:2.0:Schema';
const typeSchema = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';
const configSchema = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';

/** The schemas of users and groups. `base` is the URL of `/scim/{organisationId}`. */
export function schemaDocuments(base: string): { readonly id: string }[] {
  const one = (id: string, name: string, attributes: readonly Attribute[]) => ({
    schemas: [schemaSchema],
    id,
    name,
    description: `${name} of the organisation`,
    attributes,
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
  });
  return [one(userSchema, 'User', user), one(groupSchema, 'Group', group)];
}

/** The types of resources. */
export function resourceTypeDocuments(base: string): { readonly id: string }[] {
  const one = (id: string, schema: string) => ({
    schemas: [typeSchema],
    id,
    name: id,
    description: `${id}s of the organisation`,
    endpoint: `/${id}s`,
    schema,
    schemaExtensions: [],
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${id}` },
  });
  return [one('User', userSchema), one('Group', groupSchema)];
}

/** Describes the supported parts of the protocol. */
export function serviceProviderConfig(base: string): object {
  return {
    schemas: [configSchema],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: pageMax },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'SCIM token',
        description: 'A token of POST /v1/scim/tokens, sent as a bearer token',
        specUri: 'https://www.rfc-editor.org/info/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
}
