import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settingsDocument } from '../config/settings-markdown.ts';
import { version } from '../config/version.ts';
import { errorsDocument } from './support/documents/error-docs.ts';
import { providersMarkdown } from './support/documents/provider-tables.ts';

const root = join(import.meta.dirname, '..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
}).split('\n');
const documents = [
  'docs/README.md',
  'docs/errors.md',
  'docs/features.md',
  'docs/imports.md',
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
  ...files.filter(
    (path) => path !== 'README.md' && path !== 'docs/README.md' && path.endsWith('/README.md') && existsSync(join(root, path)),
  ),
];

describe('documents', () => {
  it('DECISIONS.md lists every decision once', () => {
    const listed = [...read('DECISIONS.md').matchAll(/\(docs\/decisions\/(.+?)\)/g)].map(([, name]) => name).sort();
    expect(listed).toEqual(readdirSync(join(root, 'docs/decisions')).sort());
  });

  it('DECISIONS.md sorts the decisions of each group by number', () => {
    const groups = read('DECISIONS.md')
      .split(/^## /m)
      .map((group) => [...group.matchAll(/^- \[(\d+)\]/gm)].map(([, number]) => number));
    expect(groups.length).toBeGreaterThan(5);
    for (const numbers of groups) expect(numbers).toEqual(numbers.toSorted());
  });

  it('docs/settings.md is what `npm run docs:settings` writes', () => {
    expect(read('docs/settings.md')).toBe(settingsDocument());
  });

  it('README shows settings with the default and meaning that they have', () => {
    // The third cell of a row of docs/settings.md has the accepted values.
    const rows = settingsDocument()
      .split('\n')
      .map((line) => line.split(' | ').toSpliced(2, 1).join(' | '));
    const shown = tableBelow(read('README.md'), 'Settings').split('\n').slice(2);
    expect(shown.length).toBeGreaterThan(5);
    expect(shown.filter((line) => !rows.includes(line))).toEqual([]);
  });

  it('no document has marks of a merge conflict', () => {
    expect(documents.filter((name) => /^(<{7}|={7}|>{7})( |$)/m.test(read(name)))).toEqual([]);
  });

  it('programs of the build that operations.md names have a source', () => {
    const named = [...read('docs/operations.md').matchAll(/dist\/([\w/-]+)\.js/g)].map(([, path]) => `${path}.ts`);
    expect(named).toContain('admin/commands/verify-audit.ts');
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('README has at most 120 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120);
  });

  it('every row of the failure table names tests that are there', () => {
    const rowsOf = (name: string, heading: string) =>
      tableBelow(read(name), heading)
        .split('\n')
        .slice(2)
        .map((row) => row.split('|').map((cell) => cell.trim()));
    const tested = rowsOf('test/failure-table/README.md', 'Failure table');
    const [rows, tests] = [tested.map((cells) => cells[1]), tested.map((cells) => cells[2] ?? '')];
    expect(rows).toEqual(rowsOf('ARCHITECTURE.md', 'When something fails').map((cells) => cells[1]));
    for (const cell of tests) {
      const named = [...cell.matchAll(/`([^`]+\.test\.ts)`/g)].map((match) => match[1] as string);
      expect(named).not.toEqual([]);
      expect(named.filter((name) => !existsSync(join(root, name.includes('/') ? name : `test/failure-table/${name}`)))).toEqual(
        [],
      );
    }
  });

  it('docs/providers.md is current; npm run docs:providers writes it', () => {
    expect(read('docs/providers.md')).toBe(providersMarkdown());
  });

  it('docs/errors.md is current; npm run docs:errors writes it', () => {
    expect(read('docs/errors.md')).toBe(errorsDocument());
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
    const named = [...read(name).matchAll(/npm run (?:-s )?([a-z][a-z:-]*)/g)].map((match) => match[1] as string);
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
  });

  it.each(documents)('%s names only source files that are there', (name) => {
    const prose = read(name).replaceAll(/```[\s\S]*?```/g, '');
    const named = [...prose.matchAll(/`((?:[\w./*<>-]+\/)?[\w-][\w.-]*\.ts)`/g)].map(([, path = '']) =>
      // If a path has a place-holder, only the name of its file is compared.
      /[*<]/.test(path) ? basename(path) : path.replace(/^(?:\.{1,2}\/)+/, ''),
    );
    const isKnown = (path: string) => files.some((file) => file === path || file.endsWith(`/${path}`));
    expect(named.filter((path) => !isKnown(path))).toEqual([]);
  });
});

/** The first Markdown table below the heading with this text; empty if there is none. */
function tableBelow(document: string, heading: string): string {
  const lines = document.split('\n');
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading);
  const section = lines.slice(start + 1, start === -1 ? 0 : undefined);
  const first = section.findIndex((line) => line.startsWith('|') || /^#+ /.test(line));
  if (first === -1) return '';
  const rest = section.slice(first);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(0, end === -1 ? undefined : end).join('\n');
}
