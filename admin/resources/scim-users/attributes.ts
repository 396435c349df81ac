import * as v from 'valibot';
import { isObject } from '../../../core/contract/values/json/json.ts';
import { noControlCharacters } from '../../http/request/schemas.ts';
import { email } from '../../identity/schema.ts';
import { userSchema } from '../../scim/urns.ts';

/** Attributes of a user that a directory can set. Absent attributes have no value. */
export interface DirectoryUser {
  userName: string;
  externalId?: string | undefined;
  name?: { formatted?: string | undefined; familyName?: string | undefined; givenName?: string | undefined } | undefined;
  displayName?: string | undefined;
  title?: string | undefined;
  emails: DirectoryEmail[];
  /** Undefined: unchanged, and true for a new user. */
  active?: boolean | undefined;
  /** Not validated here. Checked and written only if directories write memberships through users. */
  groups?: unknown;
}

interface DirectoryEmail {
  value: string;
  type?: string | undefined;
  primary?: boolean | undefined;
}

const text = (most: number) =>
  v.nullish(
    v.pipe(
      v.string(),
      v.trim(),
      v.maxLength(most, `at most ${most} characters`),
      noControlCharacters,
      v.transform((value) => (value === '' ? undefined : value)),
    ),
  );

/** Entra ID sends `"True"` and `"False"` as texts. */
export const directoryBoolean = v.pipe(
  v.union([v.boolean(), v.pipe(v.string(), v.toLowerCase(), v.picklist(['true', 'false']))], 'true or false is expected'),
  v.transform((value) => value === true || value === 'true'),
);

const oneEmail = v.object({
  value: email,
  type: text(64),
  primary: v.nullish(directoryBoolean),
});

const isBlank = (one: unknown) => isObject(one) && (one.value === null || one.value === undefined || one.value === '');

/** Attributes of a user; names in any case, unknown ones ignored. */
export const directoryUser = v.pipe(
  v.looseObject({}),
  v.metadata({
    jsonSchema: {
      type: 'object',
      required: ['userName'],
      properties: {
        schemas: { type: 'array', items: { const: userSchema } },
        userName: { type: 'string', format: 'email', minLength: 1, maxLength: 255 },
        externalId: { type: 'string', maxLength: 255 },
        active: { type: 'boolean' },
        name: {
          type: 'object',
          properties: { givenName: { type: 'string' }, familyName: { type: 'string' }, formatted: { type: 'string' } },
        },
        emails: { type: 'array', items: { type: 'object', properties: { value: { type: 'string', format: 'email' } } } },
        groups: { type: 'array', items: { type: 'object', properties: { value: { type: 'string', format: 'uuid' } } } },
      },
    },
  }),
  v.transform(withKnownNames),
  v.object({
    userName: v.pipe(
      v.string('required'),
      v.trim(),
      v.minLength(1, 'must not be empty'),
      v.maxLength(255, 'at most 255 characters'),
      noControlCharacters,
    ),
    externalId: text(255),
    name: v.nullish(v.object({ formatted: text(255), familyName: text(128), givenName: text(128) })),
    displayName: text(255),
    title: text(255),
    // Directories send empty entries for attributes without a value.
    emails: v.pipe(
      v.nullish(v.array(v.unknown()), []),
      v.transform((list) => (list ?? []).filter((one) => !isBlank(one))),
      v.pipe(v.array(oneEmail), v.maxLength(20, 'at most 20 addresses')),
      v.check((list) => list.filter((one) => one.primary).length <= 1, 'at most one address can be primary'),
    ),
    active: v.nullish(directoryBoolean),
    groups: v.optional(v.unknown()),
  }),
  v.transform((user): DirectoryUser => clean(user)),
);

const topNames = ['userName', 'externalId', 'name', 'displayName', 'title', 'emails', 'active', 'groups'];
const innerNames = ['formatted', 'familyName', 'givenName', 'value', 'type', 'primary'];

/** Renames known attributes to their exact spelling and drops the others. */
function withKnownNames(sent: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const known = rename(sent, topNames);
  const inner = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(inner) : isObject(value) ? rename(value, innerNames) : value;
  return {
    ...known,
    ...('name' in known ? { name: inner(known.name) } : {}),
    ...('emails' in known ? { emails: inner(known.emails) } : {}),
    ...('groups' in known ? { groups: inner(known.groups) } : {}),
  };
}

function rename(sent: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(sent)) {
    const name = names.find((one) => one.toLowerCase() === key.toLowerCase());
    if (name !== undefined) out[name] = value;
  }
  return out;
}

/** Removes attributes without a value, at every level. */
function clean(user: { readonly emails: unknown }): DirectoryUser {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip);
    if (!isObject(value)) return value;
    const kept = Object.entries(value).flatMap(([key, inner]) =>
      inner === null || inner === undefined ? [] : [[key, strip(inner)]],
    );
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  };
  return strip({ ...user, emails: user.emails ?? [] }) as DirectoryUser;
}
