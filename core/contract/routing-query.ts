import { RE2JS } from 're2js';
import { isObject } from './json.ts';

/** The roots a field of a query may begin with: `metadata.team`, `params.model`, `headers.x-tier`, `url.pathname`. */
export const fieldRoots = ['metadata', 'params', 'headers', 'url'] as const;

/** Tells whether a query holds for the fields of one request. */
export type Predicate = (read: (field: string) => unknown) => boolean;

const patternLengthMax = 256;

/**
 * Compiles the query language of data-plane §4.6: fields against a bare value (strict equality) or operators `$eq $ne $gt $gte
 * $lt $lte $in $nin $regex`, joined by `$and` and `$or`. Everything in one object must hold. Patterns run in linear time
 * (RE2). Throws Error `path: what is wrong` for what cannot be read.
 */
export function compileQuery(query: unknown, path: string): Predicate {
  if (!isObject(query)) throw fault(path, 'must be an object');
  const parts = Object.entries(query).map(([key, value]) => compileEntry(key, value, path));
  if (parts.length === 0) throw fault(path, 'is empty: it would hold for every request');
  return (read) => parts.every((part) => part(read));
}

function compileEntry(key: string, value: unknown, path: string): Predicate {
  if (key === '$and' || key === '$or') {
    if (!Array.isArray(value) || value.length === 0) throw fault(`${path}.${key}`, 'must be a list of queries');
    const parts = value.map((item, index) => compileQuery(item, `${path}.${key}[${index}]`));
    return key === '$and' ? (read) => parts.every((part) => part(read)) : (read) => parts.some((part) => part(read));
  }
  if (key.startsWith('$')) throw fault(`${path}.${key}`, 'is no operator that joins queries; use $and or $or');
  if (!fieldRoots.some((root) => key.startsWith(`${root}.`) && key.length > root.length + 1)) {
    throw fault(`${path}.${key}`, `must begin with ${fieldRoots.map((root) => `${root}.`).join(', ')}`);
  }
  const tests = isObject(value)
    ? Object.entries(value).map(([operator, operand]) => compileOperator(operator, operand, `${path}.${key}`))
    : [(actual: unknown) => actual === value];
  if (tests.length === 0) throw fault(`${path}.${key}`, 'has no operator');
  return (read) => {
    const actual = read(key);
    return tests.every((test) => test(actual));
  };
}

function compileOperator(operator: string, operand: unknown, path: string): (actual: unknown) => boolean {
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
      if (!Array.isArray(operand)) throw fault(`${path}.${operator}`, 'must be a list');
      return operator === '$in' ? (actual) => operand.includes(actual) : (actual) => !operand.includes(actual);
    }
    case '$regex': {
      const pattern = compilePattern(operand, `${path}.$regex`);
      return (actual) => typeof actual === 'string' && pattern.matcher(actual).find();
    }
    default:
      throw fault(`${path}.${operator}`, 'is no operator; use $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin or $regex');
  }
}

/** Numbers and texts that are numbers; anything else compares as false. */
function compare(operand: unknown, path: string, operator: string, test: (left: number, right: number) => boolean) {
  const right = Number.parseFloat(String(operand));
  if (Number.isNaN(right)) throw fault(`${path}.${operator}`, 'must be a number');
  return (actual: unknown): boolean => test(Number.parseFloat(String(actual)), right);
}

function compilePattern(operand: unknown, path: string): RE2JS {
  if (typeof operand !== 'string' || operand.length > patternLengthMax)
    throw fault(path, `must be a text of at most ${patternLengthMax} characters`);
  try {
    return RE2JS.compile(operand);
  } catch (thrown) {
    throw fault(path, `is no pattern RE2 knows: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}

function fault(path: string, text: string): Error {
  return new Error(`${path}: ${text}`);
}
