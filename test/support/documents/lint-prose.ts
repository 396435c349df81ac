import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** A line of prose that breaks docs/writing.md. */
export interface ProseIssue {
  /** 1 = the first line. */
  readonly line: number;
  readonly reason: string;
}

const headless = /^(?:What|Who|Whose|Whoever|Where|Whether|Of|That)\b/;
const banned =
  /\b(?:nobody|somebody|whoever|is told|are told|tells|held back by|by word|its word|in vain|for ever|for good|hears?|owes?|unless told|lends?|lent|culprit|thoughts?|answer(?:s|ed|ing)?)\b/i;
/** Declared names with a banned word: a client gets a reply, a provider sends a response. */
const bannedName = /\b(?:const|let|function|class|interface|type)\s+(\w*answer\w*)/gi;

/** Returns the comments of a TypeScript or JavaScript file that have no subject or use a banned term. */
export function proseIssues(source: string): ProseIssue[] {
  const issues: ProseIssue[] = [];
  // Code between comments resets this: the next comment line then starts a sentence.
  let inComment = false;
  for (const [index, text] of source.split('\n').entries()) {
    const comment = /^\s*(?:\/\*\*?|\*(?!\/)|\/\/)\s?(.*)$/.exec(text) ?? /^[^'"`/]*[;,{([]\s*\/\/\s?(.*)$/.exec(text);
    const prose = comment?.[1]?.replace(/\*\/\s*$/, '').trim() ?? '';
    if (comment === null) {
      inComment = false;
      continue;
    }
    if (/^\s*\/\*/.test(text)) inComment = false;
    if (prose === '') continue;
    if (!inComment && headless.test(prose)) issues.push({ line: index + 1, reason: 'a comment that starts without a subject' });
    const term = banned.exec(prose.replace(/`[^`]*`/g, ''));
    if (term) issues.push({ line: index + 1, reason: `"${term[0]}": use the terms of docs/writing.md` });
    inComment = true;
  }
  return issues;
}

const title = /(?:^\s*(?:describe|it|test)(?:\.\w+)*\(|\)\()\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1\s*,/gm;
const headlessTitle = /^(?:what|who|whose|whom|whoever|which|where|whether|of|that|and|nor|or|but|so|than)\b/i;

/** Returns the titles of a test file that do not read alone: without a subject or verb, or with a banned term. */
export function titleIssues(source: string): ProseIssue[] {
  return [...source.matchAll(title)].flatMap((match) => {
    const text = match[2] as string;
    const line = source.slice(0, match.index + match[0].indexOf(text)).split('\n').length;
    const issues: ProseIssue[] = [];
    if (headlessTitle.test(text)) issues.push({ line, reason: `a title that does not read alone: "${text}"` });
    const term = banned.exec(text);
    if (term) issues.push({ line, reason: `"${term[0]}" in a title: use the terms of docs/writing.md` });
    return issues;
  });
}

/** Returns the declared names of a file that hold a banned word. */
export function nameIssues(source: string): ProseIssue[] {
  return [...source.matchAll(bannedName)].map(({ index, 1: name }) => ({
    line: source.slice(0, index).split('\n').length,
    reason: `the name "${name}": use the terms of docs/writing.md`,
  }));
}

/** Returns `path:line: reason` for every issue in the tracked source files below `root`. */
export function proseIssuesOf(root: string): string[] {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.mjs'], { cwd: root, encoding: 'utf8' }).split('\n');
  return files
    .filter((path) => path !== '' && !path.includes('/fixtures/') && existsSync(`${root}/${path}`))
    .flatMap((path) => fileIssues(path, readFileSync(`${root}/${path}`, 'utf8')));
}

/** Returns `path:line: reason` for every issue in a source file. */
export function fileIssues(path: string, source: string): string[] {
  const issues = [...proseIssues(source), ...nameIssues(source), ...(path.endsWith('.test.ts') ? titleIssues(source) : [])];
  return issues.map(({ line, reason }) => `${path}:${line}: ${reason}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const issues = proseIssuesOf(process.cwd());
  for (const issue of issues) console.error(issue);
  if (issues.length > 0) {
    console.error(`${issues.length} comments or titles break docs/writing.md`);
    process.exitCode = 1;
  }
}
