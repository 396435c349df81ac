import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyRepository, type RepositoryCopy } from '../../support/repository-copy.ts';

const generator = 'config/generators/new-resource.ts';

describe('npm run new:resource', () => {
  let copy: RepositoryCopy;
  beforeAll(() => {
    copy = copyRepository();
  });
  afterAll(() => copy?.remove());

  it.each([
    ['no name', []],
    ['a name that is no plural', ['price-tag']],
    ['a name in capitals', ['PriceTags']],
    ['the name of a resource that exists', ['configs']],
  ])('npm run new:resource: rejects %s and changes nothing', (_, args) => {
    expect(() => copy.run(generator, ...args)).toThrow();
    expect(copy.changes()).toEqual({ added: [], edited: {}, damaged: [] });
  });

  it('adds one folder with its tests, and one line to the list of resources', () => {
    copy.run(generator, 'price-tags');
    const { added, edited, damaged } = copy.changes();
    expect(added.map((path) => path.replace(/\d{12}/, '<time>'))).toEqual([
      'admin/resources/price-tags/README.md',
      'admin/resources/price-tags/entity.ts',
      'admin/resources/price-tags/migrations/<time>-price-tags.ts',
      'admin/resources/price-tags/resource.ts',
      'admin/resources/price-tags/routes.ts',
      'admin/resources/price-tags/schema.ts',
      'admin/resources/price-tags/service.ts',
      'admin/resources/price-tags/to-reply.ts',
      'test/admin/resources/price-tags/200.test.ts',
      'test/admin/resources/price-tags/400.test.ts',
      'test/admin/resources/price-tags/401.test.ts',
      'test/admin/resources/price-tags/403.test.ts',
      'test/admin/resources/price-tags/404.test.ts',
    ]);
    expect(edited).toEqual({ 'core/contract/protocol/resources.ts': ["  'price-tags': 'standard',"] });
    expect(damaged).toEqual([]);
  });

  it('generates a resource whose tests pass', { timeout: 300_000 }, () => {
    copy.test('test/admin/resources/price-tags', 'test/admin/tables.test.ts');
  });
});
