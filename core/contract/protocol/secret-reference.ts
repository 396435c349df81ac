import * as v from 'valibot';

/** External stores of secrets. */
export const secretManagerTypes = ['aws_sm', 'azure_kv', 'hashicorp_vault'] as const;
export type SecretManagerType = (typeof secretManagerTypes)[number];

/** One value of a provider that is read from a secret manager, and where it goes. Nothing in here is a plain secret. */
export const mappedSecretDocument = v.object({
  /** The mapping's `target_field` as it was sent (`key`, `configurations.aws_region`): what messages name. */
  target: v.string(),
  /** Config name of what it fills: `api_key`, `aws_secret_access_key`. */
  field: v.string(),
  /** True for a credential, false for a plain setting. */
  isSecret: v.boolean(),
  /** `json`: the text is JSON and stands for what it says; a credential stays text. */
  format: v.picklist(['string', 'json']),
  /** Row id, slug and version of the reference: a changed reference is read anew. */
  id: v.string(),
  slug: v.string(),
  revision: v.number(),
  managerType: v.picklist(secretManagerTypes),
  /** Name, ARN or path of the secret, in the manager's words. */
  path: v.string(),
  /** Which value of a secret that has several: the mapping's word, else the reference's; null: it has one. */
  key: v.nullable(v.string()),
  /** How to authenticate at the manager: settings under their wire names that are no secret. */
  auth: v.record(v.string(), v.string()),
  /** JSON of those that are secret, sealed with the transport key, aad `secret-reference/<id>`; null: none. */
  authSecrets: v.nullable(v.string()),
});
export type MappedSecretDocument = v.InferOutput<typeof mappedSecretDocument>;
