import * as v from 'valibot';

/** External stores of secrets. */
export const secretManagerTypes = ['aws_sm', 'azure_kv', 'hashicorp_vault'] as const;
export type SecretManagerType = (typeof secretManagerTypes)[number];

/** One value of a provider that is read from a secret manager, and the field it fills. Nothing in it is a plain secret. */
export const mappedSecretDocument = v.object({
  /** The mapping's `target_field` as it was sent (`key`, `configurations.aws_region`). Messages name this field. */
  target: v.string(),
  /** Config name of the field it fills: `api_key`, `aws_secret_access_key`. */
  field: v.string(),
  /** True for a credential, false for a plain setting. */
  isSecret: v.boolean(),
  /** `json`: the text is parsed as JSON. A credential stays text. */
  format: v.picklist(['string', 'json']),
  /** Row id, slug and version of the reference: a changed reference is read again. */
  id: v.string(),
  slug: v.string(),
  revision: v.number(),
  managerType: v.picklist(secretManagerTypes),
  /** Name, ARN or path of the secret, in the manager's terms. */
  path: v.string(),
  /** Key of the value in a secret that has several: from the mapping, else from the reference; null: the secret has one value. */
  key: v.nullable(v.string()),
  /** Settings for authentication at the manager, under their wire names, without secrets. */
  auth: v.record(v.string(), v.string()),
  /** JSON of the secret settings, sealed with the transport key, aad `secret-reference/<id>`; null: none. */
  authSecrets: v.nullable(v.string()),
});
export type MappedSecretDocument = v.InferOutput<typeof mappedSecretDocument>;
