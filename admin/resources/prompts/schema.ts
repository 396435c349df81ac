import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import {
  idOrSlug,
  name,
  notEnforced,
  pageEntries,
  queryFlag,
  slug,
  tenantEntries,
  text,
  unchanged,
} from '../../http/request/schemas.ts';

const anything = v.record(v.string(), v.unknown());
const objects = v.pipe(v.array(anything), v.maxLength(256, 'at most 256 entries'));
const flag = v.union([v.picklist([0, 1]), v.boolean()], '0 or 1 is expected');

/** Maximum length of a template in characters. */
const templateCharsMax = 262_144;

const string = v.pipe(
  v.string('a template is expected: JSON of the messages as text, or a text'),
  v.maxLength(templateCharsMax, `at most ${templateCharsMax} characters`),
);
const model = v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(255, 'at most 255 characters'));
/** Slug or id of a provider, also as `@slug`. */
const virtualKey = v.pipe(
  v.string(),
  v.regex(/^@?[a-zA-Z0-9_-]{1,255}$/, 'the slug or id of a provider is expected'),
  v.transform((value) => value.replace('@', '')),
);
const toolChoice = v.union([anything, v.pipe(v.string(), v.maxLength(64))], 'an object or a text is expected');
const description = v.nullish(text);

/** Ids of rows that this service does not have. Clients of the reference send them empty. */
const olderEntries = { ai_model_id: notEnforced, finetune_id: notEnforced, provider_api_key_id: notEnforced };

/** Content that makes a version. */
const contentEntries = {
  functions: v.nullish(objects),
  tools: v.nullish(objects),
  tool_choice: v.nullish(toolChoice),
  model: v.nullish(model),
  is_raw_template: v.nullish(flag),
  template_metadata: v.nullish(anything),
};

export const createBody = v.strictObject({
  ...tenantEntries,
  name,
  /** Default: made from the name. */
  slug: v.optional(slug),
  collection_id: v.optional(idOrSlug),
  string,
  parameters: anything,
  ...contentEntries,
  ...olderEntries,
  virtual_key: v.optional(virtualKey),
  version_description: description,
});

export const updateBody = v.strictObject({
  ...tenantEntries,
  slug: unchanged,
  patch: v.optional(v.boolean()),
  name: v.optional(name),
  collection_id: v.optional(idOrSlug),
  string: v.nullish(string),
  parameters: v.nullish(anything),
  ...contentEntries,
  ...olderEntries,
  /** Another name of `template_metadata`. */
  prompt_metadata: v.nullish(anything),
  virtual_key: v.nullish(virtualKey),
  version_description: description,
  status: v.optional(oneOf(['active', 'archived'])),
});

export type CreateBody = v.InferOutput<typeof createBody>;
export type UpdateBody = v.InferOutput<typeof updateBody>;

export const versionNumber = v.pipe(v.number(), v.safeInteger('a version number is expected'), v.minValue(1, 'at least 1'));

export const publishBody = v.strictObject({ ...tenantEntries, version: versionNumber });

export const listQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  collection_id: v.optional(idOrSlug),
  search: v.optional(text),
  id: v.optional(idOrSlug),
  return_last_used: queryFlag,
  type: v.optional(oneOf(['shared', 'all'])),
  show_prompt_share: queryFlag,
});

export const readQuery = v.strictObject({ ...tenantEntries, version: v.optional(text) });
