import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { copyTemplates, GeneratorError, insertSorted, namesOf, runGenerator } from './kit.ts';

const root = join(import.meta.dirname, '../..');
const list = 'core/providers/list.ts';

/** Creates an OpenAI-compatible provider with one setting of its own, a README and passing tests, and registers it in one line. */
runGenerator(root, ([name, ...rest]) => {
  if (name === undefined || rest.length > 0) throw new GeneratorError('Usage: npm run new:provider -- <name>, such as acme-ai');
  const names = namesOf(name);
  const values = { ...names, date: new Date().toISOString().slice(0, 10) };
  // The line is added first. If the provider exists, this fails before anything is written.
  const line = `export { declaration as ${names.camel} } from './${names.kebab}/settings.ts';`;
  insertSorted({ root, file: list, line, among: /^export \{ .+ \} from '\.\/(.+)\/settings\.ts';$/ });
  const files = copyTemplates({ from: join(import.meta.dirname, 'provider'), root, values });
  // docs/providers.md is generated from the declarations.
  execFileSync(process.execPath, [join(root, 'test/support/write-provider-docs.ts')]);
  return [...files, list, 'docs/providers.md'];
});
