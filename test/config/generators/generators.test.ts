import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileIssues } from '../../support/documents/lint-prose.ts';
import { copyRepository, type RepositoryCopy } from '../../support/runner/repository-copy.ts';

interface Generated {
  readonly kind: 'plugin' | 'provider' | 'resource';
  readonly name: string;
  /** Arguments that are rejected, and what the error says. */
  readonly rejected: readonly (readonly [string[], RegExp])[];
  readonly added: readonly string[];
  /** Lines added to files that exist. */
  readonly edited: Readonly<Record<string, readonly string[]>>;
  /** A generated document that changes too, and a line of it. */
  readonly document?: readonly [file: string, line: string];
  /** Tests of the project that walk all folders of this kind. */
  readonly tests: readonly string[];
}

const compiled: readonly Generated['kind'][] = process.env.LONG_TESTS
  ? ['plugin', 'provider', 'resource']
  : ['plugin', 'provider'];

const inFolder = (folder: string, ...names: string[]): string[] => names.map((name) => `${folder}/${name}`);

const generated: readonly Generated[] = [
  {
    kind: 'plugin',
    name: 'deny-texts',
    rejected: [
      [[], /Usage: npm run new:plugin/],
      [['deny-texts', '--package'], /Usage: npm run new:plugin/],
      [['DenyTexts'], /expected a kebab-case name/],
      [['cache'], /index\.ts:\d+ has an entry for cache already/],
    ],
    added: [
      ...inFolder('plugins/deny-texts', 'README.md', 'index.ts', 'schema.ts'),
      'test/plugins/deny-texts/deny-texts.test.ts',
    ],
    edited: {
      'plugins/index.ts': [
        "export { denyTexts } from './deny-texts/index.ts'; //                 output-guardrails: denies responses that contain a forbidden text",
      ],
    },
    tests: ['test/core/pipeline/plan/compile-plan.test.ts'],
  },
  {
    kind: 'provider',
    name: 'acme-ai',
    rejected: [
      [[], /Usage: npm run new:provider/],
      [['Acme'], /expected a kebab-case name/],
      [['groq'], /list\.ts:\d+ has an entry for groq already/],
    ],
    added: [
      ...inFolder('core/providers/acme-ai', 'README.md', 'index.ts', 'settings.ts'),
      'test/core/providers/acme-ai/contract.test.ts',
      ...inFolder(
        'test/core/providers/acme-ai/fixtures',
        ...['bad-model.error.json', 'text.chunks.txt', 'text.events.txt', 'text.json'],
        ...['tool-call.chunks.txt', 'tool-call.events.txt', 'tool-call.json'],
      ),
    ],
    edited: { 'core/providers/list.ts': ["export { declaration as acmeAi } from './acme-ai/settings.ts';"] },
    document: ['docs/providers.md', '| [`acme-ai`](../core/providers/acme-ai/README.md) |'],
    tests: [
      'test/docs.test.ts',
      ...['index', 'declarations', 'provider-table'].map((name) => `test/core/providers/${name}.test.ts`),
    ],
  },
  {
    kind: 'resource',
    name: 'price-tags',
    rejected: [
      [[], /Usage: npm run new:resource/],
      [['price-tag'], /plural/],
      [['PriceTags'], /kebab-case/],
      [['configs'], /configs/],
    ],
    added: [
      ...inFolder('admin/resources/price-tags', 'README.md', 'entity.ts', 'migrations/<time>-price-tags.ts'),
      ...inFolder('admin/resources/price-tags', 'resource.ts', 'routes.ts', 'schema.ts', 'service.ts', 'to-reply.ts'),
      ...[200, 400, 401, 403, 404].map((status) => `test/admin/resources/price-tags/${status}.test.ts`),
    ],
    edited: { 'core/contract/protocol/resources.ts': ["  'price-tags': 'standard',"] },
    tests: ['test/admin/tables.test.ts'],
  },
];

// One copy and one run of the generated tests for all generators: copying and starting take most of the time.
describe('generators', () => {
  let copy: RepositoryCopy;
  beforeAll(() => {
    copy = copyRepository();
  });
  afterAll(() => copy?.remove());

  const generate = ({ kind }: Generated, ...args: string[]): string => copy.run(`config/generators/new-${kind}.ts`, ...args);

  describe.each(generated)('npm run new:$kind', (one) => {
    it('is a script of package.json', () => {
      const { scripts } = JSON.parse(readFileSync(join(copy.root, 'package.json'), 'utf8'));
      expect(scripts[`new:${one.kind}`]).toBe(`node config/generators/new-${one.kind}.ts`);
    });

    it('rejects other arguments and changes nothing', () => {
      copy.acceptChanges();
      for (const [args, message] of one.rejected) expect(() => generate(one, ...args)).toThrow(message);
      expect(copy.changes()).toEqual({ added: [], edited: {}, damaged: [] });
    });

    it('adds one folder with its tests and one line to one list, and prints the files and the next step', () => {
      copy.acceptChanges();
      const output = generate(one, one.name);
      const { added, edited, damaged } = copy.changes();
      const { [one.document?.[0] ?? '']: documented, ...registered } = edited;
      expect(added.map((path) => path.replace(/\d{12}/, '<time>'))).toEqual(one.added);
      expect({ registered, damaged }).toEqual({ registered: one.edited, damaged: [] });
      expect(documented?.join('\n') ?? '').toContain(one.document?.[1] ?? '');
      const printed = output.matchAll(/^(created|changed) (.+)$/gm);
      expect([...printed].map(([, , path]) => path).sort()).toEqual([...added, ...Object.keys(edited)].sort());
      expect(output).toMatch(/\n\n.+ npx vitest run .+\n$/);
    });
  });

  it('create code that passes its own tests, and tests of all such folders', { timeout: 600_000 }, () => {
    const own = generated.flatMap(({ added }) => added).filter((path) => path.endsWith('.test.ts'));
    copy.test(...own, ...generated.flatMap(({ tests }) => tests));
  });

  const isSource = (path: string): boolean => path.endsWith('.ts') && !path.includes('migrations/');

  // 2 s of CPU. The types of the ORM add 3 s, and those of tests another 3 s.
  it(`create code that compiles: ${compiled.join(' and ')}`, () => {
    const made = generated.filter(({ kind }) => compiled.includes(kind)).flatMap(({ added }) => added);
    const files = made.filter((path) => isSource(path) && !path.startsWith('test/'));
    writeFileSync(join(copy.root, 'tsconfig.made.json'), JSON.stringify({ extends: './tsconfig.json', files, include: [] }));
    copy.run('node_modules/typescript7/bin/tsc', '-p', 'tsconfig.made.json');
  });

  it('create files that lint accepts, for names of one word too', () => {
    copy.acceptChanges();
    copy.run('config/generators/new-plugin.ts', 'shout');
    copy.run('config/generators/new-resource.ts', 'badges');
    const oneWord = copy.changes().added;
    const sources = [...generated.flatMap(({ added, edited }) => [...added, ...Object.keys(edited)]), ...oneWord].filter(
      isSource,
    );
    copy.run('node_modules/@biomejs/biome/bin/biome', 'check', '--vcs-enabled=false', ...sources);
    expect(sources.flatMap((path) => fileIssues(path, readFileSync(join(copy.root, path), 'utf8')))).toEqual([]);
  });
});
