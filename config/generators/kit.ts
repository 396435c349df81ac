import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** An error of the person who runs a generator. `runGenerator` prints its message without a stack. */
export class GeneratorError extends Error {}

/** One name in the spellings that files, code and prose need. */
export interface Names {
  /** `acme-ai`: folders, ids and file names. */
  readonly kebab: string;
  /** `'acme-ai'` or `acme`: keys of object literals. */
  readonly key: string;
  /** `acmeAi`: values. */
  readonly camel: string;
  /** `AcmeAi`: types. */
  readonly pascal: string;
  /** `acme_ai`: settings and tables. */
  readonly snake: string;
  /** `Acme ai`: headings and sentences. */
  readonly title: string;
}

/** Returns the spellings of a kebab-case name that starts with a letter. Throws GeneratorError. */
export function namesOf(name: string): Names {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 40) {
    throw new GeneratorError(`${name}: expected a kebab-case name of at most 40 characters, such as acme-ai`);
  }
  const pascal = name.replace(/(?:^|-)([a-z0-9])/g, (_, first: string) => first.toUpperCase());
  const title = name.replaceAll('-', ' ');
  return {
    kebab: name,
    key: name.includes('-') ? `'${name}'` : name,
    camel: pascal[0]?.toLowerCase() + pascal.slice(1),
    pascal,
    snake: name.replaceAll('-', '_'),
    title: title[0]?.toUpperCase() + title.slice(1),
  };
}

/** Returns words with `a` or `an`. Names such as `user` and `unit` begin with a consonant when they are spoken. */
export function withArticle(words: string): string {
  return `${/^(?!u(?:ni|s)|eu)[aeiou]/.test(words) ? 'an' : 'a'} ${words}`;
}

export interface Templates {
  /** Folder of `*.template` files in the layout of the repository. Paths and contents may contain `{{name}}` placeholders. */
  readonly from: string;
  /** Root of the repository. */
  readonly root: string;
  readonly values: Readonly<Record<string, string>>;
}

/**
 * Writes one file per template and returns the paths below `root`, sorted. Throws GeneratorError, before anything is written, if a
 * file exists or a placeholder has no value.
 */
export function copyTemplates({ from, root, values }: Templates): string[] {
  const files = readdirSync(from, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.template'))
    .map((path) => ({
      path: fill(path.replace(/\.template$/, ''), values, path),
      text: fill(readFileSync(join(from, path), 'utf8'), values, path),
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const { path } of files) {
    if (existsSync(join(root, path))) throw new GeneratorError(`${path} exists. Choose another name or delete the file first`);
  }
  for (const { path, text } of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return files.map(({ path }) => path);
}

function fill(text: string, values: Readonly<Record<string, string>>, template: string): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new GeneratorError(`${template}: the placeholder {{${name}}} has no value`);
    return value;
  });
}

/** Returns the versions that the manifest of a generated package names, from the manifest of the repository. */
export function versionsOf(root: string): Readonly<Record<string, string>> {
  const { version, dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { typescript, '@types/node': typesNode } = devDependencies;
  return { version, valibot: dependencies.valibot, typescript, typesNode };
}

export interface Insertion {
  readonly root: string;
  /** Path of the list file below `root`. */
  readonly file: string;
  /** Line to insert, without a line break. */
  readonly line: string;
  /** Matches the lines of the list. Its first group, if any, is the sort key, otherwise the whole line. */
  readonly among: RegExp;
}

/**
 * Inserts one line before the first line of the list that sorts after it, or after the last one. Throws GeneratorError if the
 * file has no such list or the list has an entry with the same key.
 */
export function insertSorted({ root, file, line, among }: Insertion): void {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  const keyOf = (text: string): string | null => {
    const found = among.exec(text);
    return found && (found[1] ?? found[0]);
  };
  const key = keyOf(line);
  if (key === null) throw new GeneratorError(`${file}: the new line does not match ${among}: ${line.trim()}`);
  let at = -1;
  for (const [index, text] of lines.entries()) {
    const other = keyOf(text);
    if (other === null) continue;
    if (other === key) throw new GeneratorError(`${file}:${index + 1} has an entry for ${key} already`);
    if (at < 0 || other < key) at = other < key ? index + 1 : index;
  }
  if (at < 0) throw new GeneratorError(`${file} has no line that matches ${among}, so there is no list to insert into`);
  lines.splice(at, 0, line);
  writeFileSync(join(root, file), lines.join('\n'));
}

/** The work of a generator. Paths are below the root of the repository, or absolute. */
export interface Generated {
  readonly created: readonly string[];
  readonly changed: readonly string[];
  /** One sentence for the author: what to edit and how to test it. */
  readonly next: string;
}

/** Runs a generator from the command line: prints the files and the next step, or one line of error with exit code 1. */
export function runGenerator(root: string, generate: (args: readonly string[]) => Generated): void {
  const shown = (path: string): string => relative(process.cwd(), resolve(root, path));
  try {
    const { created, changed, next } = generate(process.argv.slice(2));
    for (const path of created) console.log(`created ${shown(path)}`);
    for (const path of changed) console.log(`changed ${shown(path)}`);
    console.log(`\n${next}`);
  } catch (error) {
    if (!(error instanceof GeneratorError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
