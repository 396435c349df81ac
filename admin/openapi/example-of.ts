import type { JsonSchema } from './to-json-schema.ts';

/** Values of members whose schema alone does not lead to a useful one, by name. */
const byName: Readonly<Record<string, unknown>> = {
  name: 'Example',
  description: 'An example',
  email: 'ada@example.com',
  password: 'correct horse battery',
  new_password: 'correct horse battery',
  ai_provider_id: 'openai',
  config: { strategy: { mode: 'fallback' }, targets: [{ provider: '@openai-prod' }, { provider: '@azure-prod' }] },
  conditions: { key: 'api_key', value: '*' },
  group_by: { key: 'api_key' },
  credit_limit: 100,
  auth_config: { vault_addr: 'https://vault.example.com', vault_auth_type: 'token', vault_token: '{token}' },
  manager_type: 'hashicorp_vault',
  secret_path: 'secret/data/openai',
  scopes: 'completions.write',
  slug: 'example',
  url: 'https://example.com/hooks',
  token: '{token}',
  issuer: 'https://id.example.com',
  domain: 'example.com',
};

/** Optional members that an example shows. */
const shown: ReadonlySet<string> = new Set(['name', 'description', 'scim_group_name']);

/** Returns a value that a schema allows: required members, and the optional ones that most requests contain. */
export function exampleOf(schema: JsonSchema, name = ''): unknown {
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum.includes(byName[name]) ? byName[name] : schema.enum[0];
  if (schema.type === 'array') return [exampleOf((schema.items ?? {}) as JsonSchema, name)];
  // SCIM has an object with the parts of a name.
  if (Object.hasOwn(byName, name) && (schema.type !== 'object' || typeof byName[name] === 'object')) return byName[name];
  if (schema.type === 'object') return objectOf(schema);
  const alternatives = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined;
  if (alternatives?.[0]) return exampleOf(alternatives[0], name);
  if (schema.type === 'boolean') return true;
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  if (schema.format === 'uuid') return '0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b';
  return schema.format === 'date-time' ? '2030-01-31T12:00:00Z' : 'example';
}

function objectOf({ properties = {}, required = [], anyOf = [] }: JsonSchema): Record<string, unknown> {
  const [oneWay] = anyOf as readonly JsonSchema[];
  const needed = new Set([...(required as readonly string[]), ...((oneWay?.required ?? []) as readonly string[])]);
  const members = Object.entries(properties as Record<string, JsonSchema>).filter(
    ([name]) => needed.has(name) || shown.has(name),
  );
  return Object.fromEntries(members.map(([name, schema]) => [name, exampleOf(schema, name)]));
}
