import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyRepository, type RepositoryCopy } from '../../support/repository-copy.ts';

describe('npm run new:provider', () => {
  let copy: RepositoryCopy;
  beforeAll(() => {
    copy = copyRepository();
  });
  afterAll(() => copy?.remove());

  const generate = (...args: string[]): string => copy.run('config/generators/new-provider.ts', ...args);

  it('is the script of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(join(copy.root, 'package.json'), 'utf8'));
    expect(scripts['new:provider']).toBe('node config/generators/new-provider.ts');
  });

  it.each([
    [[], /Usage: npm run new:provider/],
    [['Acme'], /expected a kebab-case name/],
    [['groq'], /list\.ts:\d+ has an entry for groq already/],
  ])('npm run new:provider: fails with %j and changes nothing', (args, message) => {
    expect(() => generate(...args)).toThrow(message);
    expect(copy.changes()).toEqual({ added: [], edited: {}, damaged: [] });
  });

  it('creates a folder with its tests, and edits one line of one list', () => {
    generate('acme-ai');
    const folder = 'core/providers/acme-ai';
    const tests = 'test/core/providers/acme-ai';
    const fixtures = ['bad-model.error.json', 'text.chunks.txt', 'text.events.txt', 'text.json'];
    const calls = ['tool-call.chunks.txt', 'tool-call.events.txt', 'tool-call.json'];
    const { added, edited, damaged } = copy.changes();
    const { 'docs/providers.md': documented, ...registered } = edited;
    expect({ added, registered, damaged }).toEqual({
      added: [
        ...['README.md', 'index.ts', 'settings.ts'].map((name) => `${folder}/${name}`),
        `${tests}/contract.test.ts`,
        ...[...fixtures, ...calls].map((name) => `${tests}/fixtures/${name}`),
      ],
      registered: { 'core/providers/list.ts': ["export { declaration as acmeAi } from './acme-ai/settings.ts';"] },
      damaged: [],
    });
    // Generated, so it is not edited.
    expect(documented?.join('\n')).toContain('| [`acme-ai`](../core/providers/acme-ai/README.md) |');
  });

  it('creates a provider that passes its own tests and those of all providers', () => {
    const all = ['index', 'declarations', 'provider-table'].map((name) => `test/core/providers/${name}.test.ts`);
    copy.test('test/core/providers/acme-ai', 'test/docs.test.ts', ...all);
  }, 300_000);

  it('creates files that lint accepts', () => {
    const files = copy.changes().added.filter((path) => path.endsWith('.ts'));
    copy.run('node_modules/@biomejs/biome/bin/biome', 'check', '--vcs-enabled=false', ...files, 'core/providers/list.ts');
  });
});
