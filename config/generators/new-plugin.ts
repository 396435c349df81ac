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
const list = 'plugins/index.ts';
/** Column of the descriptions in the list. */
const commentColumn = 70;
const usage = 'Usage: npm run new:plugin -- <name> [--package <folder>], such as deny-texts --package ../plugins';

/**
 * Creates a plugin of the stage output-guardrails with settings, a README and passing tests: inside the repository, registered in one
 * line, or with `--package` as an npm package of its own below a folder.
 */
runGenerator(root, ([name, flag, folder, ...rest]) => {
  const isPackage = flag === '--package' && folder !== undefined;
  if (name === undefined || rest.length > 0 || (flag !== undefined && !isPackage)) throw new GeneratorError(usage);
  const names = namesOf(name);
  return isPackage ? newPackage(names, resolve(folder)) : newBuiltIn(names);
});

function newBuiltIn(names: Names): Generated {
  // The line is added first. If the plugin exists, this fails before anything is written.
  const entry = `export { ${names.camel} } from './${names.kebab}/index.ts'; //`;
  const line = `${entry.padEnd(commentColumn - 1)} output-guardrails: denies responses that contain a forbidden text`;
  insertSorted({ root, file: list, line, among: /^export \{ .+ \} from '\.\/(.+)\/index\.ts';/ });
  const created = copyTemplates({ from: join(import.meta.dirname, 'plugin'), root, values: { ...names } });
  const next = `Replace the hook in plugins/${names.kebab}/index.ts. Test it with npx vitest run test/plugins/${names.kebab}. Hooks: plugins/README.md`;
  return { created, changed: [list], next };
}

function newPackage(names: Names, folder: string): Generated {
  const from = join(import.meta.dirname, 'plugin-package');
  const created = copyTemplates({ from, root: folder, values: { ...names, ...versionsOf(root) } }).map((path) =>
    join(folder, path),
  );
  const next = `In that folder run npm install --no-save with the file of svc-gateway, and npm test. Load the package with PLUGINS=${names.kebab}. Guide: docs/guides/plugins.md`;
  return { created, changed: [], next };
}
