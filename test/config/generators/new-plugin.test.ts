import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyRepository, type RepositoryCopy } from '../../support/repository-copy.ts';

describe('npm run new:plugin', () => {
  let copy: RepositoryCopy;
  beforeAll(() => {
    copy = copyRepository();
  });
  afterAll(() => copy?.remove());

  const generate = (...args: string[]): string => copy.run('config/generators/new-plugin.ts', ...args);

  it('is the script of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(join(copy.root, 'package.json'), 'utf8'));
    expect(scripts['new:plugin']).toBe('node config/generators/new-plugin.ts');
  });

  it.each([
    [[], /Usage: npm run new:plugin/],
    [['deny-texts', '--package'], /Usage: npm run new:plugin/],
    [['DenyTexts'], /expected a kebab-case name/],
    [['cache'], /index\.ts:\d+ has an entry for cache already/],
  ])('npm run new:plugin: fails with %j and changes nothing', (args, message) => {
    expect(() => generate(...args)).toThrow(message);
    expect(copy.changes()).toEqual({ added: [], edited: {}, damaged: [] });
  });

  it('creates a folder with its tests, and edits one line of one list', () => {
    generate('deny-texts');
    expect(copy.changes()).toEqual({
      added: [
        'plugins/deny-texts/README.md',
        'plugins/deny-texts/index.ts',
        'plugins/deny-texts/schema.ts',
        'test/plugins/deny-texts/deny-texts.test.ts',
      ],
      edited: { 'plugins/index.ts': ["export { denyTexts } from './deny-texts/index.ts';"] },
      damaged: [],
    });
  });

  it('creates a plugin that passes its own tests and those of the chain', () => {
    copy.test('test/plugins/deny-texts', 'test/core/pipeline/plan/compile-plan.test.ts');
  }, 300_000);

  it('creates files that lint accepts', () => {
    const files = copy.changes().added.filter((path) => path.endsWith('.ts'));
    copy.run('node_modules/@biomejs/biome/bin/biome', 'check', '--vcs-enabled=false', ...files, 'plugins/index.ts');
  });
});
