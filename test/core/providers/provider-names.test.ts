import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { declarations } from '../../../core/providers/declarations.ts';

const root = join(import.meta.dirname, '../../..');

/** Folders of providers, and of formats and clouds that several providers share. */
const sharedCode = /^core\/(providers\/(list\.ts|[^/]+\/)|formats|translate|cloud-auth|provider-settings|test-kit)/;

/** Files that name a provider for another reason than to treat it differently, with the names. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  // The first start creates an integration of the mock, which the first request in the README uses.
  'admin/bootstrap/create-organisation.ts': ['mock'],
  'core/supervisor/ready-text.ts': ['mock'],
  // Examples in the API description.
  'admin/openapi/example-of.ts': ['openai'],
  'admin/resources/logs/custom-log-schema.ts': ['openai'],
  'admin/resources/logs/filters.ts': ['anthropic', 'openai'],
  'admin/resources/configs/resource.ts': ['mock'],
  'admin/resources/integrations/resource.ts': ['openai'],
  'admin/resources/prompts/resource.ts': ['mock'],
  'admin/resources/virtual-keys/resource.ts': ['openai'],
  'core/contract/protocol/route-descriptions.ts': ['anthropic', 'openai'],
  'plugins/guardrails/checks/content/ask-provider.ts': ['openai'],
  // Paths and headers of clients in the formats of OpenAI and Anthropic.
  'core/contract/plugin/requests/passed-traffic.ts': ['openai'],
  'core/endpoints/azure-paths.ts': ['openai'],
  'core/endpoints/explain-path.ts': ['openai'],
  'core/journal/prepare-exchange.ts': ['anthropic', 'openai'],
  'core/model-list/list-models.ts': ['anthropic'],
  'core/pipeline/attempt/socket-protocols.ts': ['openai'],
  'core/pipeline/error-format.ts': ['anthropic'],
  'core/realtime/create-client-secret.ts': ['openai'],
  'plugins/auth/credential.ts': ['anthropic'],
  'plugins/cache/key.ts': ['anthropic'],
  // Anthropic's own models state every member of its form.
  'core/model-list/anthropic-list.ts': ['anthropic'],
  // The metadata service of Google Cloud.
  'core/contract/provider/upstream.ts': ['google'],
  'core/contract/values/addresses/trusted-hosts.ts': ['google'],
  'core/contract/values/http/connection-headers.ts': ['google'],
  // Prefixes of providers' keys.
  'core/contract/values/text/mask-credentials.ts': ['github', 'xai'],
  'core/contract/values/credentials/key-rejections.ts': ['xai'],
  // Names of providers in the conventions of OpenTelemetry and OpenInference.
  'admin/resources/otel/vocabulary.ts': [
    ...['azure-ai', 'azure-openai', 'bedrock', 'fireworks-ai', 'google', 'mistral-ai', 'openai'],
    ...['perplexity-ai', 'together-ai', 'vertex_ai', 'vertex-ai', 'x-ai', 'xai'],
  ],
  // Type names of the protocol of agents and of Gemini's errors, `type.googleapis.com` and `google.rpc`.
  'core/a2a/agent-errors.ts': ['google'],
  'core/contract/values/errors/gemini-errors.ts': ['google'],
  // Formats of bills, and the service that a bill of AWS lists.
  'admin/resources/reconciliations/read-bill.ts': ['anthropic', 'bedrock', 'openai'],
  'admin/resources/reconciliations/formats/aws.ts': ['bedrock'],
  // Guardrails of Amazon Bedrock are a check, not a provider.
  'plugins/guardrails/checks/partners/bedrock.ts': ['bedrock'],
  'plugins/guardrails/checks/partners/index.ts': ['bedrock'],
};

const names = declarations.flatMap(({ id, aliases }) => [id, ...aliases]);
const pattern = new RegExp(
  `(?<![A-Za-z0-9])(${names.map((name) => name.replaceAll('-', '[-_]')).join('|')})(?![A-Za-z0-9])`,
  'g',
);

it('provider names: shared code treats no provider by its name', () => {
  const found = ['core', 'admin', 'plugins', 'workers'].flatMap((folder) => namesBelow(folder));
  const unexpected = found.filter(({ path, name }) => !allowed[path]?.includes(name));
  expect(unexpected).toEqual([]);
});

it('provider names: every exception is still needed', () => {
  const unused = Object.entries(allowed).flatMap(([path, expected]) => {
    const found = new Set(namesIn(readFileSync(join(root, path), 'utf8')));
    return expected.filter((name) => !found.has(name)).map((name) => `${path}: ${name}`);
  });
  expect(unused).toEqual([]);
});

it('provider names: finds one in any place of code, but not in comments and imports', () => {
  expect(namesIn("const ids = { groq: 1, x: 'vertex-ai' };\n x_groq; vertex_auth_type;")).toEqual(['groq', 'vertex-ai', 'groq']);
  expect(namesIn("import { a } from './openai/a.ts';\n/** As groq. */\n// groq\nconst grok = 'groqs';")).toEqual([]);
});

function namesBelow(folder: string): { path: string; name: string }[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => path.endsWith('.ts') && !sharedCode.test(path))
    .flatMap((path) => namesIn(readFileSync(join(root, path), 'utf8')).map((name) => ({ path, name })));
}

/** The names of providers in code, except in comments, in import paths and in `strict_open_ai_compliance`. */
function namesIn(text: string): string[] {
  const code = text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '')
    .replace(/ from '[^']*'/g, '')
    .replace(/strict[-_]open[-_]ai[-_]compliance/g, '');
  return [...code.matchAll(pattern)].map(([name]) => name);
}
