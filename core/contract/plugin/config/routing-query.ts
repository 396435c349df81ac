import { RE2JS } from 're2js';
import { messageOf } from '../../values/errors/message-of.ts';
import { isCredentialHeader } from '../../values/http/credential-headers.ts';
import { isObject } from '../../values/json/json.ts';

/**
 * The roots a field of a query may begin with: `metadata.team`, `params.model`, `headers.x-tier`, `url.pathname`, `tokens.input`
 * (an estimate of the tokens of the request's text).
 */
const fieldRoots = ['metadata', 'params', 'headers', 'url', 'tokens'] as const;

/** The field that holds the estimate of the request's tokens. Its value must be counted before the query runs. */
export const inputTokensField = 'tokens.input';

/** Returns the value of a field for one request. Undefined if the request has no such field. */
export type ReadField = (field: string) => unknown;

/** Returns true if a query matches the fields of one request. */
export type Predicate = (read: ReadField) => boolean;

/** The result of each part of a query for one request. */
export interface QueryTrace {
  readonly holds: boolean;
  readonly clauses: readonly ClauseTrace[];
}

/** One comparison. Clauses below `$or` may fail while their query holds. Their paths show where they are. */
interface ClauseTrace {
  /** `metadata.team`, `$or[1].params.model`. */
  readonly path: string;
  readonly operator: string;
  readonly expected: unknown;
  /** Absent if the request has no value there; `***` for headers that carry credentials. */
  readonly actual?: unknown;
  readonly holds: boolean;
}

const patternLengthMax = 256;
/** Maximum size of all patterns of a strategy together, in instructions. `^gpt-5` has 9. Compiling them takes up to 30 ms. */
const patternsSizeMax = 10_000;
/** Maximum number of instructions times characters for one request. They run on the main thread, at about 4 ns each. */
const patternStepsMax = 10_000_000;

/** The size of all patterns that were compiled with it. */
export interface PatternCosts {
  size: number;
}

/**
 * Compiles the query language of conditions: fields against a bare value (strict equality) or operators `$eq $ne $gt $gte $lt
 * $lte $in $nin $regex`, joined by `$and` and `$or`. All members of an object must match. Numbers and booleans are compared as texts with
 * metadata and headers, and read as texts by patterns. Patterns run in linear time (RE2), over the beginning of a value: 10 million
 * characters divided by the size of all patterns. `costs` is shared by the queries of a strategy. Throws
 * Error `path: what is wrong` for an invalid query.
 */
export function compileQuery(query: unknown, path: string, costs: PatternCosts = { size: 0 }): Predicate {
  return predicateOf(parseQuery(query, path, '', costs));
}

/**
 * Returns the query with the result of every comparison, for a request whose fields `read` returns. Pure. Throws as
 * `compileQuery` does. Long values are cut. Values of headers that carry credentials are masked, in the query and in the request.
 */
export function explainQuery(query: unknown, read: ReadField): QueryTrace {
  const group = parseQuery(query, 'query', '', { size: 0 });
  const clauses: ClauseTrace[] = [];
  addClauses(group, read, clauses);
  return { holds: predicateOf(group)(read), clauses };
}

/** True if a query reads a field for which `isIt` returns true. `query` must be valid. */
export function asksFor(query: unknown, isIt: (field: string) => boolean): boolean {
  if (Array.isArray(query)) return query.some((part) => asksFor(part, isIt));
  if (!isObject(query)) return false;
  return Object.entries(query).some(([key, value]) => (key.startsWith('$') ? asksFor(value, isIt) : isIt(key)));
}

/** True for a field of the request's parameters. */
export function isParam(field: string): boolean {
  return field.startsWith('params.');
}

type Part = Group | Clause;

interface Group {
  readonly kind: 'all' | 'any';
  readonly parts: readonly Part[];
}

interface Clause {
  readonly kind: 'clause';
  /** From the root of the query. */
  readonly path: string;
  readonly field: string;
  readonly tests: readonly Test[];
}

interface Test {
  readonly operator: string;
  readonly expected: unknown;
  readonly holds: (actual: unknown) => boolean;
}

function parseQuery(query: unknown, path: string, below: string, costs: PatternCosts): Group {
  if (!isObject(query)) throw issue(path, 'must be an object');
  const parts = Object.entries(query).map(([key, value]) => parseEntry(key, value, path, below, costs));
  if (parts.length === 0) throw issue(path, 'is empty and would match every request');
  return { kind: 'all', parts };
}

function parseEntry(key: string, value: unknown, path: string, below: string, costs: PatternCosts): Part {
  const here = below === '' ? key : `${below}.${key}`;
  if (key === '$and' || key === '$or') {
    if (!Array.isArray(value) || value.length === 0) throw issue(`${path}.${key}`, 'must be a list of queries');
    const parts = value.map((item, index) => parseQuery(item, `${path}.${key}[${index}]`, `${here}[${index}]`, costs));
    return { kind: key === '$and' ? 'all' : 'any', parts };
  }
  if (key.startsWith('$')) throw issue(`${path}.${key}`, 'is not a logical operator; use $and or $or');
  if (!fieldRoots.some((root) => key.startsWith(`${root}.`) && key.length > root.length + 1)) {
    throw issue(`${path}.${key}`, `must begin with ${fieldRoots.map((root) => `${root}.`).join(', ')}`);
  }
  if (key.startsWith('tokens.') && key !== inputTokensField) throw issue(`${path}.${key}`, `is unknown; use ${inputTokensField}`);
  const tests: Test[] = isObject(value)
    ? Object.entries(value).map(([operator, operand]) => ({
        operator,
        expected: operand,
        holds: compileOperator(operator, comparable(key, operand), `${path}.${key}`, costs),
      }))
    : [{ operator: '$eq', expected: value, holds: compileOperator('$eq', comparable(key, value), path, costs) }];
  if (tests.length === 0) throw issue(`${path}.${key}`, 'has no operator');
  return { kind: 'clause', path: here, field: key, tests };
}

function predicateOf(part: Part): Predicate {
  if (part.kind === 'clause') {
    const { field, tests } = part;
    return (read) => {
      const actual = read(field);
      return tests.every((test) => test.holds(actual));
    };
  }
  const parts = part.parts.map(predicateOf);
  return part.kind === 'all' ? (read) => parts.every((holds) => holds(read)) : (read) => parts.some((holds) => holds(read));
}

function addClauses(part: Part, read: ReadField, clauses: ClauseTrace[]): void {
  if (part.kind !== 'clause') {
    for (const each of part.parts) addClauses(each, read, clauses);
    return;
  }
  const { path, field } = part;
  const actual = read(field);
  const isSecret = field.startsWith('headers.') && isCredentialHeader(field);
  for (const { operator, expected, holds } of part.tests) {
    clauses.push({
      path,
      operator,
      expected: isSecret ? '***' : shown(expected),
      ...(actual === undefined ? undefined : { actual: isSecret ? '***' : shown(actual) }),
      holds: holds(actual),
    });
  }
}

const shownCharsMax = 200;

/** Shortens a value for an explanation: a condition on a prompt must not repeat the prompt. */
function shown(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text === undefined || text.length <= shownCharsMax) return value;
  return `${text.slice(0, shownCharsMax)}… (${text.length} characters)`;
}

/** Returns an operand as it is compared. Values of metadata and headers are texts, so numbers and booleans are compared as texts. */
function comparable(field: string, operand: unknown): unknown {
  if (!/^(?:metadata|headers)\./.test(field)) return operand;
  if (Array.isArray(operand)) return operand.map((each) => comparable(field, each));
  return typeof operand === 'number' || typeof operand === 'boolean' ? String(operand) : operand;
}

function compileOperator(operator: string, operand: unknown, path: string, costs: PatternCosts): (actual: unknown) => boolean {
  switch (operator) {
    case '$eq':
      return (actual) => actual === operand;
    case '$ne':
      return (actual) => actual !== operand;
    case '$gt':
      return compare(operand, path, operator, (left, right) => left > right);
    case '$gte':
      return compare(operand, path, operator, (left, right) => left >= right);
    case '$lt':
      return compare(operand, path, operator, (left, right) => left < right);
    case '$lte':
      return compare(operand, path, operator, (left, right) => left <= right);
    case '$in':
    case '$nin': {
      if (!Array.isArray(operand)) throw issue(`${path}.${operator}`, 'must be a list');
      return operator === '$in' ? (actual) => operand.includes(actual) : (actual) => !operand.includes(actual);
    }
    case '$regex': {
      const pattern = compilePattern(operand, `${path}.$regex`, costs);
      return (actual) => {
        const text = typeof actual === 'number' || typeof actual === 'boolean' ? String(actual) : actual;
        return typeof text === 'string' && pattern.matcher(text.slice(0, Math.floor(patternStepsMax / costs.size))).find();
      };
    }
    default:
      throw issue(`${path}.${operator}`, 'is not an operator; use $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin or $regex');
  }
}

/** Numbers and texts that begin with a number; anything else compares as false. */
function compare(operand: unknown, path: string, operator: string, test: (left: number, right: number) => boolean) {
  const right = Number.parseFloat(String(operand));
  if (Number.isNaN(right)) throw issue(`${path}.${operator}`, 'must be a number');
  return (actual: unknown): boolean => test(numberOf(actual), right);
}

/** Characters of a text that are read as a number. Each of the thousands of comparisons of a strategy may read a prompt. */
const numberCharsMax = 400;

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? Number.parseFloat(value.slice(0, numberCharsMax)) : Number.NaN;
}

function compilePattern(operand: unknown, path: string, costs: PatternCosts): RE2JS {
  if (typeof operand !== 'string' || operand.length > patternLengthMax)
    throw issue(path, `must be a string of at most ${patternLengthMax} characters`);
  if (costs.size > patternsSizeMax) throw issue(path, tooLarge);
  try {
    const pattern = RE2JS.compile(operand);
    costs.size += pattern.programSize();
    if (costs.size <= patternsSizeMax) return pattern;
  } catch (thrown) {
    throw issue(path, `is not a valid RE2 pattern: ${messageOf(thrown)}`);
  }
  throw issue(path, tooLarge);
}

const tooLarge = `the patterns of this strategy are too large: at most ${patternsSizeMax} instructions together`;

function issue(path: string, text: string): Error {
  return new Error(`${path}: ${text}`);
}
