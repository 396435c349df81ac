import { domainToUnicode } from 'node:url';
import type { Filter } from 'scim2-parse-filter';
import { plainAddress } from '../../core/contract/values/text/email-address.ts';
import { isUuid } from '../../core/contract/values/text/uuid.ts';
import { utcMs } from '../../core/contract/values/time/utc-time.ts';
import { isReadableYear } from '../http/request/schemas.ts';
import { invalidFilter } from './filter.ts';

/** An attribute in a query. `sql` is text of this program, never of a request. */
type Column =
  | {
      /**
       * `address`: a text that may be an e-mail address. A value equals it in each spelling of its domain; a part of an address is found if it
       * holds whole labels of the domain.
       */
      readonly type: 'text' | 'exact-text' | 'address' | 'uuid' | 'boolean' | 'time';
      readonly sql: string;
    }
  | {
      readonly type: 'list';
      /** Wraps a condition on one element: `exists (select … where <condition>)`. */
      any(condition: string): string;
      readonly members: Columns;
    };

/** Attributes by their name in lower case; sub-attributes as `name.givenname`. */
export type Columns = Readonly<Record<string, Column>>;

/** A condition with its parameters in order. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

type Comparison = Extract<Filter, { compValue: unknown }>;

/** Translates a filter to a condition. Values are parameters. Throws `invalidFilter` for unknown attributes. */
export function filterToSql(filter: Filter, columns: Columns, schema: string): Condition {
  if ('filters' in filter) {
    const parts = filter.filters.map((one) => filterToSql(one, columns, schema));
    return join(parts, filter.op);
  }
  if ('filter' in filter) {
    const inner = filterToSql(filter.filter, columns, schema);
    return { ...inner, sql: `not ${inner.sql}` };
  }
  const path = attributeOf(filter.attrPath, schema);
  const column = findColumn(columns, path);
  if ('valFilter' in filter) {
    if (column.type !== 'list') throw invalidFilter('filter', `${path} has no elements to select`);
    const inner = filterToSql(filter.valFilter, column.members, schema);
    return { ...inner, sql: column.any(inner.sql) };
  }
  if (column.type === 'list') return compareList(column, filter);
  return compare(column, path, filter);
}

/** Returns the name of an attribute in lower case, without the name of its schema. */
export function attributeOf(path: string, schema: string): string {
  const lower = path.toLowerCase();
  const prefix = `${schema.toLowerCase()}:`;
  return lower.startsWith(prefix) ? lower.slice(prefix.length) : lower;
}

/** Returns the expression to sort by. Throws `invalidValue` for unknown attributes. */
export function sortColumn(path: string, columns: Columns, schema: string): string {
  const column = ownColumn(columns, attributeOf(path, schema));
  if (!column || column.type === 'list') throw invalidFilter('sortBy', 'not an attribute to sort by');
  return column.type === 'text' || column.type === 'address' ? `lower(${column.sql})` : column.sql;
}

/** Ignores the names that every object inherits, such as `constructor`. */
function ownColumn(columns: Columns, name: string): Column | undefined {
  return Object.hasOwn(columns, name) ? columns[name] : undefined;
}

/** Finds an attribute, or the sub-attribute of a list. */
function findColumn(columns: Columns, path: string): Column {
  const found = ownColumn(columns, path);
  if (found) return found;
  const dot = path.indexOf('.');
  const list = dot === -1 ? undefined : ownColumn(columns, path.slice(0, dot));
  const member = list?.type === 'list' ? ownColumn(list.members, path.slice(dot + 1)) : undefined;
  if (list?.type !== 'list' || !member) throw invalidFilter('filter', 'an attribute is unknown or cannot be filtered by');
  return { ...list, members: { value: member } };
}

/** Applies a comparison to the `value` of any element. */
function compareList(column: Extract<Column, { type: 'list' }>, filter: Filter): Condition {
  if (filter.op === 'pr') return { sql: column.any('true'), values: [] };
  const inner = compare(column.members.value as Column, 'value', filter as Comparison);
  return { ...inner, sql: column.any(inner.sql) };
}

const signs = { eq: '=', gt: '>', ge: '>=', lt: '<', le: '<=' } as const;

function compare(column: Column, path: string, filter: Filter): Condition {
  if (column.type === 'list') throw invalidFilter('filter', `${path}: select its elements with [ ]`);
  const { sql } = column;
  if (filter.op === 'pr') return { sql: `(${sql} is not null)`, values: [] };
  const { op, compValue } = filter as Comparison;
  if (compValue === null) {
    if (op !== 'eq' && op !== 'ne') throw invalidFilter('filter', `${path}: null can be compared with eq and ne only`);
    return { sql: `(${sql} is ${op === 'eq' ? '' : 'not '}null)`, values: [] };
  }
  if (op === 'ne') {
    const equal = compare(column, path, { ...filter, op: 'eq' } as Filter);
    return { ...equal, sql: `(${equal.sql} is not true)` };
  }
  switch (column.type) {
    case 'boolean':
      if (op !== 'eq') throw invalidFilter('filter', `${path}: true and false can be compared with eq and ne only`);
      return { sql: `(${sql} = ?::boolean)`, values: [toBoolean(compValue, path)] };
    case 'time':
      if (!(op in signs)) throw invalidFilter('filter', `${path}: times cannot be compared with ${op}`);
      return { sql: `(${sql} ${signs[op as keyof typeof signs]} ?::timestamptz)`, values: [toTime(compValue, path)] };
    case 'uuid':
      if (op === 'eq') return isUuid(String(compValue)) ? { sql: `(${sql} = ?::uuid)`, values: [compValue] } : never;
      return compareText(`${sql}::text`, op, String(compValue));
    case 'exact-text':
      return compareText(sql, op, String(compValue));
    case 'address':
      if (op === 'eq') {
        const values = spellingsOf(String(compValue));
        return { sql: `(lower(${sql}) in (${values.map(() => 'lower(?::text)').join(', ')}))`, values };
      }
      if (op === 'co' || op === 'sw' || op === 'ew') {
        return join(
          spellingsOf(String(compValue)).map((value) => compareText(`lower(${sql})`, op, value, 'lower(?::text)')),
          'or',
        );
      }
      return compareText(`lower(${sql})`, op, String(compValue), 'lower(?::text)');
    case 'text':
      return compareText(`lower(${sql})`, op, String(compValue), 'lower(?::text)');
  }
}

/** Returns an address, or a part of one, as it was sent, with its domain in ASCII and with its domain in Unicode. User names are stored as they were sent. */
function spellingsOf(sent: string): string[] {
  const plain = plainAddress(sent);
  const at = plain.lastIndexOf('@') + 1;
  // Empty for a text that is no domain, which every address would contain.
  const inUnicode = domainToUnicode(plain.slice(at));
  return [...new Set([sent, plain, ...(inUnicode === '' ? [] : [plain.slice(0, at) + inUnicode])])];
}

const never: Condition = { sql: 'false', values: [] };

function compareText(sql: string, op: Comparison['op'], value: string, parameter = '?::text'): Condition {
  switch (op) {
    case 'co':
      return { sql: `(strpos(${sql}, ${parameter}) > 0)`, values: [value] };
    case 'sw':
      return { sql: `starts_with(${sql}, ${parameter})`, values: [value] };
    case 'ew':
      return { sql: `(right(${sql}, length(${parameter})) = ${parameter})`, values: [value, value] };
    default:
      return { sql: `(${sql} ${signs[op as keyof typeof signs]} ${parameter})`, values: [value] };
  }
}

/** Entra ID sends `"True"` and `"False"` as texts. */
function toBoolean(value: unknown, path: string): boolean {
  const text = String(value).toLowerCase();
  if (text !== 'true' && text !== 'false') throw invalidFilter('filter', `${path}: true or false is expected`);
  return text === 'true';
}

function toTime(value: unknown, path: string): string {
  const time = typeof value === 'string' ? utcMs(value) : Number.NaN;
  if (!isReadableYear(new Date(time))) throw invalidFilter('filter', `${path}: an ISO 8601 time is expected`);
  return new Date(time).toISOString();
}

function join(parts: readonly Condition[], op: 'and' | 'or'): Condition {
  return { sql: `(${parts.map((one) => one.sql).join(` ${op} `)})`, values: parts.flatMap((one) => one.values) };
}
