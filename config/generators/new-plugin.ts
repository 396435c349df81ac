import { join } from 'node:path';
import { copyTemplates, GeneratorError, insertSorted, namesOf, runGenerator } from './kit.ts';

const root = join(import.meta.dirname, '../..');
const list = 'plugins/index.ts';

/** Creates a plugin of the stage output-guardrails with settings, a README and passing tests, and registers it in one line. */
runGenerator(root, ([name, ...rest]) => {
  if (name === undefined || rest.length > 0) throw new GeneratorError('Usage: npm run new:plugin -- <name>, such as deny-texts');
  const names = namesOf(name);
  // The line first: it fails if there is such a plugin, and then nothing is written.
  const line = `export { ${names.camel} } from './${names.kebab}/index.ts';`;
  insertSorted({ root, file: list, line, among: /^export \{ .+ \} from '\.\/(.+)\/index\.ts';/ });
  return [...copyTemplates({ from: join(import.meta.dirname, 'plugin'), root, values: { ...names } }), list];
});
