import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Version of this package from its package.json. The file is searched upwards, because sources and build are at different depths.
 */
export const version: string = readVersion();

function readVersion(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const found = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: string; version?: string };
      if (found.name === 'svc-gateway' && found.version) return found.version;
    } catch {
      // The package.json is in a parent folder.
    }
  }
  throw new Error('package.json of svc-gateway not found above config/');
}
