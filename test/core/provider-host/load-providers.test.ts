import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkDeclaration } from '../../../core/provider-host/check-declaration.ts';
import { defineProvider, text } from '../../../core/provider-host/provider.ts';

const folder = mkdtempSync(join(tmpdir(), 'provider-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a module in a process of its own, because providers are added before the first module that lists them is loaded. */
function run(source: string): string {
  const path = join(folder, 'run.mjs');
  writeFileSync(path, source);
  return execFileSync(process.execPath, [path], { encoding: 'utf8', stdio: 'pipe' });
}

const root = join(import.meta.dirname, '../../..');
const at = (path: string) => JSON.stringify(join(root, path));

describe('a third-party provider', () => {
  const own = text({ about: 'Project.', example: 'p' });
  const declaration = (more: object) => ({ ...defineProvider({ id: 'acme-ai', load: async () => ({ adapters: [] }) }), ...more });

  it.each([
    ['nothing', null, /exports no provider/],
    ['an id that is not kebab-case', declaration({ id: 'Acme' }), /no id in kebab-case/],
    ['no load function', declaration({ load: undefined }), /\(acme-ai\) has no load function/],
    ['no settings', declaration({ settings: undefined }), /is incomplete/],
    [
      'a setting of another provider',
      declaration({ settings: { aws_region: own } }),
      /settings\.aws_region: .*begin with acme_ai_/,
    ],
    ['its own form of a common setting', declaration({ settings: { api_key: own } }), /settings\.api_key: .*begin with acme_ai_/],
    ['a setting without a schema', declaration({ settings: { acme_ai_x: { about: 'x' } } }), /settings\.acme_ai_x: expected/],
  ])('is rejected with %s', (_, given, message) => {
    expect(checkDeclaration(given)).toMatch(message);
  });

  it('cannot have the name of another provider', () => {
    const source = `
      import { addProviders } from ${at('core/provider-settings/added-providers.ts')};
      import { defineProvider } from ${at('core/provider-settings/declaration.ts')};
      addProviders([defineProvider({ id: 'acme-ai', aliases: ['openai'], load: async () => ({ adapters: [] }) })]);
      await import(${at('core/providers/declarations.ts')});`;
    expect(() => run(source)).toThrow('PROVIDERS: two providers have the name openai; rename one of the two');
  });

  it.each([
    ["throw new Error('no licence')", 'cannot be loaded: no licence'],
    ["return { adapters: 'all' }", 'cannot be loaded: adapters: expected a list of adapters'],
    ['return null', 'the module that acme-ai loads has no adapter of this id'],
  ])('with an adapter that is not there stops the start, and the error has the id: %s', (load, message) => {
    const source = `
      import { addProviders } from ${at('core/provider-settings/added-providers.ts')};
      import { defineProvider } from ${at('core/provider-settings/declaration.ts')};
      addProviders([defineProvider({ id: 'acme-ai', load: async () => { ${load}; } })]);
      await import(${at('core/providers/index.ts')});`;
    expect(() => run(source)).toThrow(new RegExp(`PROVIDERS: .*acme-ai.*${message.slice(-30)}`));
  });

  it('is accepted with settings of its own', () => {
    expect(
      checkDeclaration(defineProvider({ id: 'acme-ai', settings: { acme_ai_x: own }, load: async () => ({ adapters: [] }) })),
    ).toBeNull();
  });
});

describe('the example provider acme-ai', () => {
  const example = 'config/examples/providers/acme-ai';

  it('passes its own test with the test kit', () => {
    const source = `
      import { sharePackage } from ${at('core/load-module/share-package.ts')};
      sharePackage();
      await import(${at(`${example}/acme-ai.test.mjs`)});`;
    expect(run(source)).toMatch(/pass 2\n[\s\S]*fail 0\n/);
  });
});
