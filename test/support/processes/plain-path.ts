import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** Returns the machine's own PATH without the entries of npm, so that the product must provide its own Node. */
export function plainPath(): string {
  const entries = (process.env.PATH ?? '').split(delimiter).filter((entry) => !/node_modules[/\\]\.bin|node-gyp-bin/.test(entry));
  const hasNode = entries.some((entry) => existsSync(join(entry, 'node')));
  return (hasNode ? entries : [...entries, dirname(process.execPath)]).join(delimiter);
}
