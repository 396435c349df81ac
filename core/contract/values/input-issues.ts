import type * as v from 'valibot';
import { nearestName } from '../../../config/did-you-mean.ts';
import { keysAt } from './schema-keys.ts';

/** `targets[1].retry.attempts` for an issue of valibot; `root` when the fault is the input itself. */
export function pathOf(issue: v.BaseIssue<unknown>, root: string): string {
  return pathOfKeys((issue.path ?? []).map((item) => item.key)) || root;
}

/**
 * Returns `path: what is wrong` of an issue. The text says what is expected and never repeats the value, which may be a secret. With
 * the schema it also names the key that an unknown key is probably a misspelling of.
 */
export function faultOf(issue: v.BaseIssue<unknown>, root: string, schema?: unknown): string {
  const items = issue.path ?? [];
  // Schemas of objects read lists as if their items were keys; the fault is then where the list stands.
  const list = items.findIndex((item) => item.type === 'object' && Array.isArray(item.input));
  if (list >= 0) return listFault(pathOfKeys(items.slice(0, list).map((item) => item.key)) || root);
  if (issue.type === 'strict_object' && issue.expected === 'never') return `${pathOf(issue, root)}: ${unknownKey(issue, schema)}`;
  return `${pathOf(issue, root)}: ${wordsOf(issue)}`;
}

/**
 * One fault for each list of the input that a schema has read as an object, which valibot lets pass. `output` is what the schema made
 * of it. Throws nothing; the work is bounded by what the schema itself looked at.
 */
export function listsReadAsObjects(input: unknown, output: unknown, root: string, path: readonly unknown[] = []): string[] {
  // valibot returns the same reference for values it did not traverse.
  if (input === output || !isComposite(input) || !isComposite(output)) return [];
  if (Array.isArray(input) && !Array.isArray(output)) return [listFault(pathOfKeys(path) || root)];
  return Object.entries(output).flatMap(([key, value]) =>
    Object.hasOwn(input, key)
      ? listsReadAsObjects(input[key], value, root, [...path, Array.isArray(output) ? Number(key) : key])
      : [],
  );
}

function listFault(path: string): string {
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

function unknownKey(issue: v.BaseIssue<unknown>, schema: unknown): string {
  const keys = (issue.path ?? []).map((item) => item.key);
  const meant = schema === undefined ? null : nearestName(String(keys.at(-1)), keysAt(schema, keys.slice(0, -1)));
  return meant === null ? 'unknown key' : `unknown key; did you mean ${meant}?`;
}

function wordsOf(issue: v.BaseIssue<unknown>): string {
  if (issue.kind === 'schema' && issue.input === undefined) return 'required';
  // Messages that valibot makes up quote the value; ours, given at the schema, do not.
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
  const unit = typeof issue.input === 'string' ? ' characters' : Array.isArray(issue.input) ? ' entries' : '';
  if (issue.type === 'integer') return 'a whole number is expected';
  if (/^min_(value|length)$/.test(issue.type)) return `at least ${issue.requirement}${unit}`;
  if (/^max_(value|length)$/.test(issue.type)) return `at most ${issue.requirement}${unit}`;
  return null;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
