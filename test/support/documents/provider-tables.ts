import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationName, ProviderAdapter } from '../../../core/contract/provider/provider.ts';
import type { ProviderDeclaration, SettingDeclaration } from '../../../core/provider-settings/declaration.ts';
import { declarations } from '../../../core/providers/declarations.ts';
import { providers } from '../../../core/providers/index.ts';

/** Names of functions in documents. Null: the operation belongs to the function above it. */
const functions: Readonly<Record<OperationName, string | null>> = {
  chatComplete: 'chat',
  complete: 'completions',
  embed: 'embeddings',
  messages: 'messages',
  messagesCountTokens: 'token counts',
  createModelResponse: 'responses',
  getModelResponse: null,
  deleteModelResponse: null,
  listResponseInputItems: null,
  cancelModelResponse: null,
  countResponseInputTokens: null,
  compactModelResponse: null,
  imageGenerate: 'images',
  imageEdit: 'image edits',
  imageVariation: 'image variations',
  createSpeech: 'speech',
  createTranscription: 'transcriptions',
  createTranslation: 'translations',
  moderate: 'moderations',
  rerank: 'rerank',
  ocr: 'OCR',
  createDecision: 'decisions',
  uploadFile: 'files',
  listFiles: null,
  retrieveFile: null,
  retrieveFileContent: null,
  deleteFile: null,
  createBatch: 'batches',
  listBatches: null,
  retrieveBatch: null,
  getBatchOutput: null,
  cancelBatch: null,
  createFinetune: 'fine-tuning',
  listFinetunes: null,
  retrieveFinetune: null,
  cancelFinetune: null,
};

const common = new Set(
  declarations.map(({ settings }) => Object.keys(settings)).reduce((all, names) => all.filter((name) => names.includes(name))),
);

/** Returns `docs/providers.md`, generated from the declarations and adapters. */
export function providersMarkdown(): string {
  const first = declarations[0] as ProviderDeclaration;
  const withSettings = declarations.filter(
    (declaration) => ownSettings(declaration).length > 0 || declaration.requires.length > 0,
  );
  return [
    '# Providers',
    'Generated from the declarations in `core/providers` by `npm run docs:providers`. Do not edit.',
    '## Functions',
    'Every provider also passes any other path below `/v1` through unchanged. A provider without a Messages or Responses API serves these calls from its chat completions.',
    table(['Provider', 'Also', 'Price list', ...['Key', 'Functions']], declarations.map(functionRow)),
    '## Settings of all providers',
    settingsTable(Object.entries(first.settings).filter(([name]) => common.has(name))),
    'Headers carry a setting under its name with `-` for `_` after the header prefix: `x-svc-aws-region`. A secret is sealed when it is stored and masked when it is read.',
    ...withSettings.flatMap(settingsSection),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
}

function functionRow({ id, aliases, priceId, key }: ProviderDeclaration): string[] {
  const adapter = providers.get(id) as ProviderAdapter;
  const has = Object.entries(functions).flatMap(([operation, name]) =>
    name !== null && adapter.operations[operation as OperationName] ? [name] : [],
  );
  const all = [...has, ...(adapter.realtime ? ['realtime'] : [])];
  return [
    linkOf(id),
    code(aliases),
    `\`${priceId}\``,
    key === 'required' ? 'yes' : 'depends',
    all.join(', ') || 'pass-through only',
  ];
}

function linkOf(id: string): string {
  const folder = existsSync(join(import.meta.dirname, '../../../core/providers', id))
    ? id
    : id.startsWith('claude-')
      ? 'anthropic'
      : 'compatible-rows';
  return `[\`${id}\`](../core/providers/${folder}/README.md)`;
}

function settingsSection(declaration: ProviderDeclaration): string[] {
  const { id, requires, auth } = declaration;
  const own = ownSettings(declaration);
  const conditions = [
    ...requires.map(({ needs, when, unless }) => {
      const condition =
        when === undefined ? (unless === undefined ? '' : ` unless ${nameOf(unless)} is set`) : ` if ${nameOf(when)} is set`;
      return `- Required${condition}: ${needs.map(nameOf).join(', ')}.`;
    }),
    ...auth.flatMap(({ setting, required, modes }) => [
      ...(required ? [`- Required: \`${setting}\`.`] : []),
      ...Object.entries(modes).flatMap(([mode, { needs = [], refuses = [] }]) => {
        if (common.has(setting) && mode !== 'wif') return [];
        const parts = [
          needs.length > 0 ? `requires ${needs.map(nameOf).join(', ')}` : '',
          refuses.length > 0 ? `excludes ${refuses.map(nameOf).join(', ')}` : '',
        ];
        const text = parts.filter((part) => part !== '').join('; ');
        return text === '' ? [] : [`- \`${setting}: ${mode}\` ${text}.`];
      }),
    ]),
  ];
  return [`## ${id}`, ...(own.length > 0 ? [settingsTable(own)] : []), ...(conditions.length > 0 ? [conditions.join('\n')] : [])];
}

function ownSettings({ settings }: ProviderDeclaration): [string, SettingDeclaration][] {
  return Object.entries(settings).filter(([name]) => !common.has(name));
}

function settingsTable(settings: readonly (readonly [string, SettingDeclaration])[]): string {
  return table(
    ['Setting', 'Type', 'Set by', 'Meaning', 'Example'],
    settings.map(([name, { kind, secret, only, about, example, pinned }]) => [
      `\`${name}\``,
      secret ? 'secret' : kind,
      setBy[only ?? 'any'],
      `${about}${pinned === 'always' ? ' Fixed once stored.' : pinned ? ' Fixed if stored.' : ''}`,
      secret || typeof example === 'object' ? '' : `\`${String(example).replaceAll('`', '')}\``,
    ]),
  );
}

const setBy = { integration: 'integration', config: 'config', call: 'config, header', any: 'integration, config, header' };

function nameOf(name: string): string {
  return name === 'api_key' ? '`key`' : `\`${name}\``;
}

function code(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
