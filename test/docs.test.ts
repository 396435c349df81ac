import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settingRow, settingsDocument } from '../config/settings-markdown.ts';
import { type Setting, settingsTable } from '../config/settings-table.ts';
import { version } from '../config/version.ts';
import { adminErrorsMarkdown, errorsMarkdown, tableBelow } from './support/doc-tables.ts';
import { providersMarkdown } from './support/provider-tables.ts';

const root = join(import.meta.dirname, '..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const documents = [
  'docs/README.md',
  'docs/features.md',
  'docs/operations.md',
  'docs/providers.md',
  'docs/settings.md',
  'docs/tour.md',
  'docs/writing.md',
  ...readdirSync(join(root, 'docs/decisions')).map((name) => `docs/decisions/${name}`),
  ...readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`),
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'DECISIONS.md',
  'CHANGELOG.md',
];

describe('documents', () => {
  it('DECISIONS.md lists every decision once', () => {
    const listed = [...read('DECISIONS.md').matchAll(/\(docs\/decisions\/(.+?)\)/g)].map(([, name]) => name).sort();
    expect(listed).toEqual(readdirSync(join(root, 'docs/decisions')).sort());
  });

  it('docs/settings.md is what `npm run docs:settings` writes', () => {
    expect(read('docs/settings.md')).toBe(settingsDocument());
  });

  it('README shows settings with the default and meaning that they have', () => {
    const rows = Object.values<Setting<unknown>>(settingsTable).map(settingRow);
    const shown = tableBelow(read('README.md'), 'Settings').split('\n').slice(2);
    expect(shown.length).toBeGreaterThan(5);
    expect(shown.filter((line) => !rows.includes(line))).toEqual([]);
  });

  it('README has at most 120 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120);
  });

  it('docs/providers.md is current; npm run docs:providers writes it', () => {
    expect(read('docs/providers.md')).toBe(providersMarkdown());
  });

  it('ARCHITECTURE lists exactly the error codes there are', () => {
    expect(tableBelow(read('ARCHITECTURE.md'), 'Errors')).toBe(errorsMarkdown());
  });

  it('ARCHITECTURE lists exactly the error codes of the control plane', () => {
    expect(tableBelow(read('ARCHITECTURE.md'), 'Control-plane codes')).toBe(adminErrorsMarkdown());
  });

  it('README names the two commands that must work on a fresh machine', () => {
    expect(read('README.md')).toContain("npx -y -p node@22 -c 'npm ci && npm start'");
    expect(read('README.md')).toContain("npx -y -p node@22 -c 'npm cit'");
  });

  it('CHANGELOG has an entry for the version of the package', () => {
    expect(read('CHANGELOG.md')).toMatch(new RegExp(`^## ${version.replaceAll('.', '\\.')}\\b`, 'm'));
  });

  it.each(documents)('%s links only to files that are there', (name) => {
    const targets = [...read(name).matchAll(/\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)/g)].map((match) => match[1] as string);
    expect(targets.filter((target) => !existsSync(join(root, dirname(name), target)))).toEqual([]);
  });

  it.each(documents)('%s names only npm scripts that are there', (name) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...read(name).matchAll(/npm run ([a-z:-]+)/g)].map((match) => match[1] as string);
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
  });
});
