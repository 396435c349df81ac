import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';

/**
 * Compares with `golden/<name>.json`. With `UPDATE_GOLDEN=1` it writes the file instead. Review the difference before committing it.
 */
export function expectGolden(name: string, value: unknown): void {
  const file = join(import.meta.dirname, 'golden', `${name}.json`);
  const actual: unknown = JSON.parse(JSON.stringify(value));
  if (process.env.UPDATE_GOLDEN === '1') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(actual, null, 2)}\n`);
  }
  expect(existsSync(file), `${name}: no golden file`).toBe(true);
  expect(actual).toEqual(JSON.parse(readFileSync(file, 'utf8')));
}
