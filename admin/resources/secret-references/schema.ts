import * as v from 'valibot';
import { secretManagerTypes } from '../../../core/contract/protocol/credentials/secret-reference.ts';
import { id, idOrSlug, name, pageEntries, slug, tagsFilter, unchanged, wholeNumber } from '../../http/request/schemas.ts';
import { authConfigText } from './auth-config.ts';

const description = v.nullish(v.pipe(v.string(), v.maxLength(1_024, 'at most 1,024 characters')));

const managerType = v.picklist(secretManagerTypes, `one of ${secretManagerTypes.join(', ')} is expected`);

/** Becomes part of a URL at some managers. Only the manager can check that the path exists. */
const secretPath = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(1_024, 'at most 1,024 characters'),
  v.regex(/^[^\u0000-\u001f\u007f\\?#]*$/, 'must not hold control characters, backslashes, ? or #'),
  v.check((value) => !value.split('/').some((part) => part === '.' || part === '..'), 'must not hold . or .. as a part'),
);

/** Selects the value in a secret that has several. Empty: none. */
export const secretKey = v.nullish(
  v.pipe(
    v.string(),
    v.maxLength(255, 'at most 255 characters'),
    v.transform((value) => (value === '' ? null : value)),
  ),
);

const allowedWorkspaces = v.optional(
  v.pipe(v.array(idOrSlug), v.minLength(1, 'at least one workspace'), v.maxLength(1_000, 'at most 1,000 workspaces')),
);

const tags = v.nullish(
  v.pipe(
    v.record(v.string(), v.string()),
    v.check((value) => JSON.stringify(value).length <= 4_096, 'at most 4 KiB'),
  ),
);

const entries = {
  organisation_id: v.optional(id),
  description,
  secret_key: secretKey,
  allow_all_workspaces: v.optional(v.boolean()),
  allowed_workspaces: allowedWorkspaces,
  tags,
};

/** `mergeAuthConfig` checks the content, since it has the manager and the authentication mode. */
const authConfig = v.pipe(v.record(v.string(), v.unknown()), v.description(authConfigText));

export const createBody = v.strictObject({
  ...entries,
  name,
  slug: v.optional(slug),
  manager_type: managerType,
  auth_config: authConfig,
  secret_path: secretPath,
});

export const updateBody = v.strictObject({
  ...entries,
  slug: unchanged,
  manager_type: unchanged,
  name: v.optional(name),
  auth_config: v.optional(authConfig),
  secret_path: v.optional(secretPath),
});

export const organisationQuery = v.strictObject({ organisation_id: v.optional(id) });

export const listQuery = v.strictObject({
  organisation_id: v.optional(id),
  current_page: pageEntries.current_page,
  page_size: v.optional(wholeNumber(1, 100), '20'),
  manager_type: v.optional(managerType),
  /** Part of a name or slug. */
  search: v.optional(v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(255, 'at most 255 characters'))),
  tags: tagsFilter,
});

export type CreateBody = v.InferOutput<typeof createBody>;
export type UpdateBody = v.InferOutput<typeof updateBody>;
