import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copyTemplates, GeneratorError, insertSorted, namesOf, withArticle } from '../../../config/generators/kit.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'generator-kit-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

it.each(['plugin', 'provider'])('a %s package can be installed beside later patch releases of the gateway', (kind) => {
  const template = join(import.meta.dirname, `../../../config/generators/${kind}-package/{{kebab}}/package.json.template`);
  expect(JSON.parse(readFileSync(template, 'utf8')).peerDependencies).toEqual({ 'svc-gateway': '^{{version}}' });
});

describe('generator kit: names', () => {
  it('spells a kebab-case name for code, settings and prose', () => {
    expect(namesOf('acme-ai2')).toEqual({
      kebab: 'acme-ai2',
      key: "'acme-ai2'",
      camel: 'acmeAi2',
      pascal: 'AcmeAi2',
      snake: 'acme_ai2',
      title: 'Acme ai2',
    });
    expect(namesOf('acme').key).toBe('acme');
  });

  it('puts the article of its first sound before a name', () => {
    const names = ['acme thing', 'email', 'invoice', 'order', 'upload', 'price tag', 'user group', 'unit', 'european site'];
    expect(names.map((name) => withArticle(name).split(' ')[0])).toEqual(['an', 'an', 'an', 'an', 'an', 'a', 'a', 'a', 'a']);
  });

  it.each(['', 'Acme', 'acme_ai', '-acme', 'acme--ai', '../acme', '2acme', 'a'.repeat(41)])('rejects the name "%s"', (name) => {
    expect(() => namesOf(name)).toThrow(GeneratorError);
  });
});

describe('generator kit: templates', () => {
  const copy = (values = { kebab: 'acme', title: 'Acme' }) => copyTemplates({ from: join(root, 'templates'), root, values });

  it('fills placeholders in paths and contents and returns the new files', () => {
    write('templates/core/{{kebab}}/README.md.template', '# {{title}}\n');
    write('templates/core/{{kebab}}/index.ts.template', "export const id = '{{kebab}}';\n");
    expect(copy()).toEqual(['core/acme/README.md', 'core/acme/index.ts']);
    expect(read('core/acme/index.ts')).toBe("export const id = 'acme';\n");
  });

  it('writes nothing if one of the files exists', () => {
    write('templates/a.ts.template', '');
    write('templates/b.ts.template', '');
    write('b.ts', 'mine');
    expect(() => copy()).toThrow('b.ts exists');
    expect([existsSync(join(root, 'a.ts')), read('b.ts')]).toEqual([false, 'mine']);
  });

  it('rejects a placeholder without a value and names the template', () => {
    write('templates/a.ts.template', '{{other}}');
    expect(() => copy()).toThrow('a.ts.template: the placeholder {{other}} has no value');
  });
});

describe('generator kit: lists', () => {
  const insert = (name: string) =>
    insertSorted({ root, file: 'list.ts', line: `export * from './${name}.ts';`, among: /^export \* from '\.\/(.+)\.ts';$/ });
  const list = (...names: string[]) => `// head\n${names.map((name) => `export * from './${name}.ts';\n`).join('')}// tail\n`;

  it.each([
    ['first', 'a', ['a', 'b', 'd']],
    ['between two', 'c', ['b', 'c', 'd']],
    ['last', 'e', ['b', 'd', 'e']],
  ])('inserts a line that sorts %s', (_, name, expected) => {
    write('list.ts', list('b', 'd'));
    insert(name);
    expect(read('list.ts')).toBe(list(...expected));
  });

  it('rejects an existing entry', () => {
    write('list.ts', list('b'));
    expect(() => insert('b')).toThrow('list.ts:2 has an entry for b already');
  });

  it('rejects a file without such a list', () => {
    write('list.ts', '// head\n');
    expect(() => insert('b')).toThrow('list.ts has no line that matches');
  });
});
