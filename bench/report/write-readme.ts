import { readFileSync, writeFileSync } from 'node:fs';

const begin = '<!-- begin of the measured tables: written by `npm run bench -- --write` -->';
const end = '<!-- end of the measured tables -->';

/** Replaces the text between the two markers of `bench/README.md`. Throws if they are missing. */
export function writeReadme(tables: string): void {
  const file = new URL('../README.md', import.meta.url);
  const text = readFileSync(file, 'utf8');
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error('bench/README.md has lost its markers');
  writeFileSync(file, `${text.slice(0, from + begin.length)}\n\n${tables}\n\n${text.slice(to)}`);
}
