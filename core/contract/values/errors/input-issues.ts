import type * as v from 'valibot';
import { nearestName } from '../../../../config/did-you-mean.ts';
import { keysAt } from './schema-keys.ts';

/** Returns `targets[1].retry.attempts` for an issue of valibot; `root` if the issue is the input itself. */
export function pathOf(issue: v.BaseIssue<unknown>, root: string): string {
  return pathOfKeys((issue.path ?? []).map((item) => item.key)) || root;
}

/**
 * Returns an issue as `path: reason`. The text says what is expected and never repeats the value, which may be a secret. With the schema it
 * also names the key that an unknown key is probably a misspelling of.
 */
export function issueText(issue: v.BaseIssue<unknown>, root: string, schema?: unknown): string {
  const items = issue.path ?? [];
  // Schemas of objects read lists as if their items were keys. The issue is then at the list itself.
  const list = items.findIndex((item) => item.type === 'object' && Array.isArray(item.input));
  if (list >= 0) return listIssue(pathOfKeys(items.slice(0, list).map((item) => item.key)) || root);
  if (isUnknownKey(issue)) return `${pathOf(issue, root)}: ${unknownKey(issue, root, schema)}`;
  return `${pathOf(issue, root)}: ${reasonOf(issue)}`;
}

/**
 * Returns the texts of issues without repetition. Unknown keys come first: a misspelt key also causes an issue of the key that is then
 * missing.
 */
export function issueTexts(issues: readonly v.BaseIssue<unknown>[], root: string, schema: unknown): string[] {
  const unknown = issues.filter(isUnknownKey).flatMap((issue) => [issue, ...otherUnknownKeys(issue, schema)]);
  const ordered = [...unknown, ...issues.filter((issue) => !isUnknownKey(issue))];
  return [...new Set(ordered.slice(0, issuesMax).map((issue) => issueText(issue, root, schema)))];
}

const issuesMax = 50;

/** Returns issues of the further unknown keys of the same object: valibot reports only the first. */
function otherUnknownKeys(issue: v.BaseIssue<unknown>, schema: unknown): v.BaseIssue<unknown>[] {
  const before = (issue.path ?? []).slice(0, -1);
  const first = issue.path?.at(-1);
  if (schema === undefined || first === undefined || !isComposite(first.input)) return [];
  const known = new Set(
    keysAt(
      schema,
      before.map(({ key }) => key),
    ),
  );
  // No keys are found behind a schema without entries, such as a custom one.
  if (known.size === 0) return [];
  const others = Object.keys(first.input).filter((key) => key !== first.key && !known.has(key));
  return others
    .slice(0, issuesMax)
    .map((key) => ({ ...issue, path: [...before, { ...first, key }] as unknown as typeof issue.path }));
}

/** True for a member that the schema does not have. */
export function isUnknownKey(issue: v.BaseIssue<unknown>): boolean {
  return issue.type === 'strict_object' && issue.expected === 'never';
}

/**
 * Returns one issue for each list of the input that a schema has read as an object, which valibot accepts. `output` is the
 * schema's result. Never throws. The work is bounded by the values the schema itself traversed.
 */
export function listsReadAsObjects(input: unknown, output: unknown, root: string, path: readonly unknown[] = []): string[] {
  // valibot returns the same reference for values it did not traverse.
  if (input === output || !isComposite(input) || !isComposite(output)) return [];
  if (Array.isArray(input) && !Array.isArray(output)) return [listIssue(pathOfKeys(path) || root)];
  const issues: string[] = [];
  for (const [key, value] of Object.entries(output)) {
    // Most members are no objects, and need no path.
    if (!isComposite(value) || !Object.hasOwn(input, key)) continue;
    issues.push(...listsReadAsObjects(input[key], value, root, [...path, Array.isArray(output) ? Number(key) : key]));
  }
  return issues;
}

function listIssue(path: string): string {
  return `${path}: expected object, received array`;
}

function isComposite(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function pathOfKeys(keys: readonly unknown[]): string {
  return keys.reduce<string>((path, key) => {
    if (typeof key === 'number') return `${path}[${key}]`;
    return path === '' ? String(key) : `${path}.${String(key)}`;
  }, '');
}

function unknownKey(issue: v.BaseIssue<unknown>, root: string, schema: unknown): string {
  if (schema === undefined) return 'unknown key';
  const keys = (issue.path ?? []).map((item) => item.key);
  const known = keysAt(schema, keys.slice(0, -1));
  const meant = nearestName(String(keys.at(-1)), known);
  if (meant !== null) return `unknown key; did you mean ${meant}?`;
  // Queries are short, and typed by people.
  return root === 'query' && known.length > 0 ? `unknown key; expected ${known.join(', ')}` : 'unknown key';
}

/** Returns the text of an issue without its path: what is expected, never the value. */
export function reasonOf(issue: v.BaseIssue<unknown>): string {
  if (issue.kind === 'schema' && issue.input === undefined) return 'required';
  // Messages generated by valibot quote the value. Messages set in our schemas do not.
  if (!issue.message.startsWith('Invalid ')) return issue.message;
  if (issue.kind === 'schema')
    return `expected ${choices(issue.expected)}${isChoice(issue) ? '' : `, received ${kindOf(issue.input)}`}`;
  return boundOf(issue) ?? (issue.expected === null ? 'not valid' : `must be ${issue.expected}`);
}

/** `("a" | "b")` as `"a" or "b"`. */
function choices(expected: string | null): string {
  return String(expected)
    .replaceAll(/[()]/g, '')
    .replaceAll(' | ', ' or ')
    .replaceAll('Object', 'object')
    .replaceAll('Array', 'array');
}

/** True if the value has the right type but is not one of the allowed values. */
function isChoice(issue: v.BaseIssue<unknown>): boolean {
  return (issue.type === 'picklist' || issue.type === 'literal') && typeof issue.input === 'string';
}

function boundOf(issue: v.BaseIssue<unknown>): string | null {
  const unit = typeof issue.input === 'string' ? 'character' : Array.isArray(issue.input) ? 'entry' : '';
  const limit = `${issue.requirement}${unit && ` ${issue.requirement === 1 ? unit : plurals[unit]}`}`;
  if (issue.type === 'integer') return 'a whole number is expected';
  if (/^min_(value|length)$/.test(issue.type)) return `at least ${limit}`;
  if (/^max_(value|length)$/.test(issue.type)) return `at most ${limit}`;
  return null;
}

const plurals = { character: 'characters', entry: 'entries' } as const;

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
