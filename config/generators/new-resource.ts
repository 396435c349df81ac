import { join } from 'node:path';
import { copyTemplates, GeneratorError, insertSorted, namesOf, runGenerator, withArticle } from './kit.ts';

/**
 * `npm run new:resource -- <name>` creates an admin resource: table, migration, routes, scopes, documentation and tests. `name` is a
 * plural in kebab case, such as price-tags.
 */
const root = join(import.meta.dirname, '../..');

runGenerator(root, ([name = '', ...rest]) => {
  if (name === '' || rest.length > 0) throw new GeneratorError('Usage: npm run new:resource -- <name>, such as price-tags');
  if (!/[^s]s$/.test(name)) throw new GeneratorError(`${name}: expected a plural that ends in s, such as price-tags`);
  const many = namesOf(name);
  const one = namesOf(name.slice(0, -1));
  const created = copyTemplates({
    from: join(import.meta.dirname, 'resource'),
    root,
    values: {
      ...many,
      words: many.kebab.replaceAll('-', ' '),
      singularWords: one.kebab.replaceAll('-', ' '),
      oneOfThem: withArticle(one.kebab.replaceAll('-', ' ')),
      singularKebab: one.kebab,
      singularCamel: one.camel,
      singularPascal: one.pascal,
      singularTitle: one.title,
      time: new Date().toISOString().replace(/\D/g, '').slice(0, 12),
    },
  });
  const list = 'core/contract/protocol/resources.ts';
  insertSorted({
    root,
    file: list,
    line: `  ${many.key}: 'standard',`,
    among: /^ {2}'?([a-z-]+)'?: '(?:standard|own)',$/,
  });
  const next = `Change entity, migration, schema, service, reply and samples in admin/resources/${many.kebab}. Test it with npx vitest run test/admin/resources/${many.kebab}. Recipe: CONTRIBUTING.md`;
  return { created, changed: [list], next };
});
