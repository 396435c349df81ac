import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import {
  copyTemplates,
  type Generated,
  GeneratorError,
  insertSorted,
  type Names,
  namesOf,
  runGenerator,
  versionsOf,
} from './kit.ts';

const root = join(import.meta.dirname, '../..');
const list = 'core/providers/list.ts';

const usage = 'Usage: npm run new:provider -- <name> [--package <folder>], such as acme-ai --package ../providers';

/**
 * Creates an OpenAI-compatible provider with one setting of its own, a README and passing tests: inside the repository, registered in one
 * line, or with `--package` as an npm package of its own below a folder.
 */
runGenerator(root, ([name, flag, folder, ...rest]) => {
  const isPackage = flag === '--package' && folder !== undefined;
  if (name === undefined || rest.length > 0 || (flag !== undefined && !isPackage)) throw new GeneratorError(usage);
  const names = namesOf(name);
  return isPackage ? newPackage(names, resolve(folder)) : newBuiltIn(names);
});

function newBuiltIn(names: Names): Generated {
  const values = { ...names, date: new Date().toISOString().slice(0, 10) };
  // The line is added first. If the provider exists, this fails before anything is written.
  const line = `export { declaration as ${names.camel} } from './${names.kebab}/settings.ts';`;
  insertSorted({ root, file: list, line, among: /^export \{ .+ \} from '\.\/(.+)\/settings\.ts';$/ });
  const created = copyTemplates({ from: join(import.meta.dirname, 'provider'), root, values });
  // docs/providers.md is generated from the declarations.
  execFileSync(process.execPath, [join(root, 'test/support/documents/write-provider-docs.ts')]);
  const next = `Fill core/providers/${names.kebab} and replace the fixtures. Test it with npx vitest run test/core/providers/${names.kebab}. Recipe: CONTRIBUTING.md`;
  return { created, changed: [list, 'docs/providers.md'], next };
}

function newPackage(names: Names, folder: string): Generated {
  const from = join(import.meta.dirname, 'provider-package');
  const created = copyTemplates({ from, root: folder, values: { ...names, ...versionsOf(root) } }).map((path) =>
    join(folder, path),
  );
  const next = `In that folder run npm install --no-save with the file of svc-gateway, and npm test. Load the package with PROVIDERS=${names.kebab}-provider. Guide: docs/guides/plugins.md#add-a-provider`;
  return { created, changed: [], next };
}
