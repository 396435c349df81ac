import { existsSync } from 'node:fs';

/** A file of `tasks`: TypeScript in the sources, JavaScript in a build. */
export function taskFile(name: string): URL {
  const source = new URL(`./tasks/${name}.ts`, import.meta.url);
  return existsSync(source) ? source : new URL(`./tasks/${name}.js`, import.meta.url);
}
