import * as v from 'valibot';
import { expect, it } from 'vitest';
import { adminRoutes, publicRoutes } from '../../../admin/tables.ts';

const long = 'a'.repeat(70_000);
const longTexts = [long, '1'.repeat(70_000), `https://example.com/${long}`, `${long}@example.com`, `@${long}`, `[a](${long}`];
const longMaps = [{ [long]: 'a' }, { a: long }];

/**
 * Fields that hold documents, content of requests or what other services sent: other checks or the limit of 1 MiB for bodies bound them.
 */
const documents: readonly string[] = [
  ...['POST /configs body.config', 'POST /guardrails body.checks[].parameters', 'POST /guardrails/test body.text'],
  ...['POST /logs body', 'POST /otel/v1/', 'POST /logs/otel/v1/', 'POST /prompts body', 'POST /prompts/partials body.string'],
  ...[
    'POST /tools body.tool_def',
    'POST /ledger/reconciliations body.data',
    'POST /admin/sso-connections body.saml.metadata_xml',
  ],
  'POST /mcp-integrations body.configurations.openapi.document',
  'POST /mcp-integrations/:mcpIntegrationId/sync body.server_info',
  'GET /auth/saml/logout/:connectionId query',
  'POST /auth/saml/logout/:connectionId body',
  // Their services check each value by the provider, the secret manager or the key set.
  'POST /integrations body.configurations',
  'POST /integrations/test body.configurations',
  'POST /secret-references body.auth_config',
  'PUT /organisations/:organisationId/auth-settings body.jwt.jwks',
  // At most 16 KiB together.
  'PUT /organisations/self body.settings.api_key_metadata_schema',
  // Clients send these fields back. They are ignored.
  'POST /admin/workspaces body.usage_limits',
  'POST /admin/workspaces body.defaults',
  'POST /api-keys/organisation/service body.rotation_policy',
  'GET /logs/:id query.created_at',
];

interface Schema {
  readonly type: string;
  readonly pipe?: readonly Schema[];
  readonly entries?: Readonly<Record<string, Schema>>;
  readonly rest?: Schema | null;
  readonly item?: Schema;
  readonly items?: readonly Schema[];
  readonly wrapped?: Schema;
  readonly options?: readonly unknown[];
  readonly key?: Schema;
  readonly value?: Schema;
}

it('request schemas: every text and every open map has a bound', () => {
  const unbounded = new Set<string>();
  const seen = new Set<Schema>();
  const takes = (schema: Schema, values: readonly unknown[]) =>
    values.some((value) => v.safeParse(schema as never, value).success);
  const walk = (schema: Schema, at: string): void => {
    if (seen.has(schema)) return;
    seen.add(schema);
    const root = schema.pipe?.[0] ?? schema;
    if (root.type === 'string' && takes(schema, longTexts)) unbounded.add(at);
    const isMap = root.type === 'record' || root.rest;
    if (isMap && !takes(schema, longMaps)) return;
    if (root.type === 'unknown' && takes(schema, [long, longMaps[1]])) unbounded.add(at);
    for (const [name, entry] of Object.entries(root.entries ?? {})) walk(entry, `${at}.${name}`);
    if (root.key) walk(root.key, `${at} (key)`);
    if (root.value && root.type === 'record') walk(root.value, `${at}.*`);
    if (root.rest) walk(root.rest, `${at}.*`);
    if (root.item) walk(root.item, `${at}[]`);
    if (root.wrapped) walk(root.wrapped, at);
    for (const item of root.items ?? []) walk(item, `${at}[]`);
    for (const option of root.options ?? []) if (typeof option === 'object') walk(option as Schema, at);
  };
  for (const route of [...adminRoutes, ...publicRoutes]) {
    if (route.body) walk(route.body as never, `${route.method} ${route.path} body`);
    if (route.query) walk(route.query as never, `${route.method} ${route.path} query`);
  }
  expect([...unbounded].filter((one) => !documents.some((path) => one.startsWith(path)))).toEqual([]);
});
