import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { isStored, type ProviderDeclaration, type SettingDeclaration } from '../../../core/provider-settings/declaration.ts';
import { declarationOf, declarations } from '../../../core/providers/declarations.ts';
import { providers } from '../../../core/providers/index.ts';
import { invalidValues, sampleWith } from '../../support/samples/sample-settings.ts';

const core = join(import.meta.dirname, '../../../core');
const folders = readdirSync(join(core, 'providers'), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() && entry.name !== 'svc' ? [entry.name] : [],
);
const accepts = (schema: v.GenericSchema, value: unknown): boolean => v.safeParse(schema, value).success;
const everySetting = declarations.flatMap((declaration) =>
  Object.entries(declaration.settings).map(([name, setting]) => ({ declaration, id: declaration.id, name, setting })),
);

describe('provider declarations', () => {
  it('have ids and aliases that no other provider has', () => {
    const names = declarations.flatMap(({ id, aliases }) => [id, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
    expect([...providers.keys()].sort()).toEqual(names.sort());
  });

  it.each(everySetting)('$id, $name: schema accepts the example and rejects values of another form', ({ setting }) => {
    expect(accepts(setting.schema, setting.example)).toBe(true);
    expect(invalidValues(setting, accepts).length).toBeGreaterThan(0);
  });

  it.each(everySetting)('$id, $name: is described in one sentence', ({ setting }) => {
    expect(setting.about).toMatch(/^[A-Z`].*\.$/);
  });

  it('name only declared settings in conditions', () => {
    const unknown = declarations.flatMap((declaration) => {
      const known = new Set([...Object.keys(declaration.settings), 'api_key']);
      return namesIn(declaration)
        .filter((name) => !known.has(name))
        .map((name) => `${declaration.id}: ${name}`);
    });
    expect(unknown).toEqual([]);
  });

  it('list a mode for each value of an authentication setting, except federation where a provider lacks it', () => {
    for (const { id, auth, settings } of declarations) {
      for (const { setting, modes } of auth) {
        const { options } = (settings[setting] as SettingDeclaration).schema as unknown as { options: readonly string[] };
        const missing = options.filter((option) => !modes[option]);
        expect([id, setting, missing]).toEqual([
          id,
          setting,
          missing.filter((option) => option === 'wif' && setting === 'provider_auth_type'),
        ]);
      }
    }
  });
});

describe('adapters', async () => {
  const declared = new Map(await Promise.all(folders.map(async (folder) => [folder, await declaredIn(folder)] as const)));
  const plain = everySetting.filter(({ setting }) => !setting.secret);

  it.each(plain)('$id: its schema keeps $name and rejects invalid values', ({ declaration, id, name, setting }) => {
    const adapter = providers.get(id);
    if (!adapter) throw new Error(`no adapter ${id}`);
    const given = isStored(setting) ? sampleWith(declaration, name).configurations : {};
    const parsed = v.safeParse(adapter.variant?.(given)?.settings ?? adapter.settings, { ...given, [name]: setting.example });
    expect(parsed.issues).toBeUndefined();
    // Azure's deployment tables and shorter names are stored under one name.
    expect(JSON.stringify(parsed.output)).toContain(leafOf(setting.example));
    if (name === 'custom_host') return;
    for (const value of invalidValues(setting, accepts)) {
      expect([value, v.safeParse(adapter.settings, { [name]: value }).success]).toEqual([value, false]);
    }
  });

  it('read only settings and credentials that their provider declares', () => {
    const undeclared = sourcesBelow(join(core, 'providers')).flatMap(({ path, text }) => {
      const folder = path.split('/')[0] as string;
      const known = declared.get(folder) ?? declarations;
      const names = new Set([...known.flatMap(({ settings }) => Object.keys(settings)), 'api_key']);
      return readsIn(text)
        .filter((name) => !names.has(name))
        .map((name) => `${path}: ${name}`);
    });
    expect(undeclared).toEqual([]);
  });

  it('share code that reads only settings which some provider declares', () => {
    const names = new Set([...declarations.flatMap(({ settings }) => Object.keys(settings)), 'api_key']);
    const undeclared = ['formats', 'translate', 'cloud-auth'].flatMap((room) =>
      sourcesBelow(join(core, room)).flatMap(({ path, text }) =>
        readsIn(text)
          .filter((name) => !names.has(name))
          .map((name) => `${room}/${path}: ${name}`),
      ),
    );
    expect(undeclared).toEqual([]);
  });

  it('find an undeclared read in any of its spellings', () => {
    expect(readsIn('call.settings.acme_zone; const { acme_team: team } = settings; credentials.acme_token?.reveal();')).toEqual([
      'acme_zone',
      'acme_token',
      'acme_team',
    ]);
  });
});

it('provider declarations: aliases resolve to their provider', () => {
  expect(declarationOf('palm')?.id).toBe('google');
  expect(declarationOf('no-such-provider')).toBeNull();
});

function namesIn({ requires, auth }: ProviderDeclaration): string[] {
  return [
    ...requires.flatMap(({ needs, when = 'api_key', unless = 'api_key' }) => [...needs, when, unless]),
    ...auth.flatMap(({ setting, modes, usual = [] }) => [
      setting,
      ...usual.map(([, name]) => name ?? 'api_key'),
      ...Object.values(modes).flatMap(({ needs = [], refuses = [], credential = 'api_key' }) => [
        ...needs,
        ...refuses,
        credential,
      ]),
    ]),
  ];
}

/** The declarations that the settings file of a folder exports. */
async function declaredIn(folder: string): Promise<ProviderDeclaration[]> {
  const exported: Record<string, unknown> = await import(`../../../core/providers/${folder}/settings.ts`);
  const all = Object.values(exported).flat() as ProviderDeclaration[];
  return all.filter((one) => declarations.includes(one));
}

function sourcesBelow(folder: string): { path: string; text: string }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('settings.ts'))
    .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
}

/** Names with an underscore that code reads from `settings` or `credentials`, by property or by destructuring. */
function readsIn(text: string): string[] {
  const properties = [...text.matchAll(/\b(?:settings|credentials)\??\.([a-z0-9]+(?:_[a-z0-9]+)+)/g)].map(
    ([, name]) => name as string,
  );
  const destructured = [...text.matchAll(/\{([^{}]*)\}(?::\s*\w+)?\s*=\s*(?:\w+\.)*(?:settings|credentials)\b/g)].flatMap(
    ([, names]) => [...(names as string).matchAll(/(?:^|[,\s])([a-z0-9]+(?:_[a-z0-9]+)+)\b/g)].map(([, name]) => name as string),
  );
  return [...properties, ...destructured];
}

/** A text that the JSON of a value and of its result contains. */
function leafOf(value: unknown): string {
  if (Array.isArray(value)) return leafOf(value[0]);
  if (typeof value === 'object' && value !== null) return leafOf(Object.values(value)[0]);
  return String(value);
}
