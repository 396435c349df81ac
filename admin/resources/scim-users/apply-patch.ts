import { type Filter, filter as matcher } from 'scim2-parse-filter';
import * as v from 'valibot';
import { isObject } from '../../../core/contract/values/json/json.ts';
import { comparisonsOf } from '../../scim/filter.ts';
import { type PatchStep, requireNoFilter, requireSimple } from '../../scim/patch.ts';
import { ScimError } from '../../scim/scim-error.ts';
import { type DirectoryUser, directoryBoolean } from './attributes.ts';

/** Names of attributes by their spelling in lower case. Maps, because a path may be `constructor`. */
type Names = ReadonlyMap<string, string>;
const namesOf = (...names: string[]): Names => new Map(names.map((name) => [name.toLowerCase(), name]));
const simple = namesOf('userName', 'externalId', 'displayName', 'title', 'active');
const nameParts = namesOf('formatted', 'familyName', 'givenName');
const emailParts = namesOf('value', 'type', 'primary');
const readOnly: ReadonlySet<string> = new Set(['id', 'meta', 'groups', 'schemas']);

type Attributes = Record<string, unknown>;

/** Elements of a list while operations are applied. Each one is compared with all others. */
const emailsMax = 100;
const groupsMax = 2_000;
/** Comparisons of the filters of one PATCH with elements. They take about a quarter of a second, in which no other request is served. */
const comparisonsMax = 500_000;

/**
 * Returns the user after these operations, not yet validated. Attributes that are not stored are ignored. `groups` can be changed if the user
 * has them. Throws `mutability` for a named read-only attribute, and `invalidFilter` if the filters take too long.
 */
export function applyPatch(user: DirectoryUser, steps: readonly PatchStep[]): Attributes {
  const next = structuredClone(user) as unknown as Attributes;
  let comparisons = 0;
  for (const step of steps) {
    comparisons += comparisonsIn(next, step);
    if (comparisons > comparisonsMax) {
      throw new ScimError('invalidFilter', 'Operations: the filters compare too many values. Send fewer operations with filters');
    }
    apply(next, step);
  }
  return next;
}

function comparisonsIn(user: Attributes, { path: { attribute, filter } }: PatchStep): number {
  const elements = user[attribute];
  return filter === null || !Array.isArray(elements) ? 0 : comparisonsOf(filter) * elements.length;
}

function apply(user: Attributes, step: PatchStep): void {
  const { op, path } = step;
  const [attribute = '', dotted] = path.attribute.split('.');
  const sub = path.sub ?? dotted ?? null;
  if (attribute === 'groups' && Array.isArray(user.groups)) return patchGroups(user, step, sub);
  if (readOnly.has(attribute)) {
    if (step.isNamed) throw new ScimError('mutability', `${attribute}: read-only`);
    return;
  }
  if (attribute === 'emails') return patchEmails(user, step, sub);
  if (attribute === 'name') return patchName(user, step, sub);
  const name = simple.get(attribute);
  if (name === undefined) return;
  requireSimple(name, path);
  if (op !== 'remove') {
    user[name] = unwrap(step.value);
    return;
  }
  if (name === 'userName' || name === 'active') throw new ScimError('mutability', `${name}: required, so it cannot be removed`);
  delete user[name];
}

/** Older clients send a simple value as `[{"value": …}]`. */
function unwrap(value: unknown): unknown {
  const one = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return isObject(one) && 'value' in one ? one.value : one;
}

function patchName(user: Attributes, { op, path, value }: PatchStep, sub: string | null): void {
  requireNoFilter('name', path);
  const name: Attributes = isObject(user.name) ? user.name : {};
  user.name = name;
  if (sub !== null) {
    const part = nameParts.get(sub);
    if (part === undefined) return;
    if (op === 'remove') delete name[part];
    else name[part] = unwrap(value);
    return;
  }
  if (op === 'remove') delete user.name;
  else Object.assign(name, partsOf(value, nameParts, 'name'));
}

function patchGroups(user: Attributes, { op, path, value }: PatchStep, sub: string | null): void {
  if (sub !== null) throw new ScimError('mutability', `groups.${sub}: read-only. Add or remove whole groups`);
  const groups = user.groups as Attributes[];
  const sent = value === undefined || value === null ? [] : listOf(value);
  requireFew('groups', groups.length + sent.length, groupsMax);
  const ids = new Set(sent.map(({ value: id }) => id));
  const isSent = ({ value: id }: Attributes) => ids.has(id);
  if (path.filter !== null) {
    if (op !== 'remove') throw new ScimError('noTarget', 'groups: elements can be added, replaced as a whole, or removed');
    const test = elementTest(path.filter);
    user.groups = groups.filter((one) => !test(one));
  } else if (op === 'remove') user.groups = sent.length === 0 ? [] : groups.filter((one) => !isSent(one));
  else user.groups = op === 'replace' ? sent : [...groups, ...sent];
}

function patchEmails(user: Attributes, step: PatchStep, sub: string | null): void {
  const { op, path } = step;
  if (path.filter === null && sub === null) {
    patchEmailList(user, step);
    return;
  }
  const emails = user.emails as Attributes[];
  const chosen = emails.filter(path.filter === null ? () => true : elementTest(path.filter));
  if (op === 'remove') removeFromEmails(user, chosen, sub);
  else changeEmails(emails, chosen, step, sub);
}

/** Adds, replaces or removes whole addresses. Removing without a value removes all. */
function patchEmailList(user: Attributes, { op, value }: PatchStep): void {
  const emails = user.emails as Attributes[];
  const sent = op === 'remove' && value === undefined ? null : listOf(value);
  requireFew('emails', emails.length + (sent?.length ?? 0), emailsMax);
  if (op === 'replace') user.emails = sent;
  else if (op === 'remove')
    user.emails = sent === null ? [] : emails.filter((one) => !sent.some((other) => isSameAddress(one, other)));
  else for (const one of sent ?? []) addEmail(emails, one);
}

/** Removes a part of the chosen addresses. An address without its value is removed whole. */
function removeFromEmails(user: Attributes, chosen: readonly Attributes[], sub: string | null): void {
  const part = sub === null ? 'value' : emailParts.get(sub);
  if (part === 'value') user.emails = (user.emails as Attributes[]).filter((one) => !chosen.includes(one));
  else if (part !== undefined) for (const one of chosen) delete one[part];
}

/** Changes the chosen addresses. If there is none, adds the one that the filter describes. */
function changeEmails(emails: Attributes[], chosen: Attributes[], { path, value }: PatchStep, sub: string | null): void {
  const change =
    sub === null ? partsOf(unwrapList(value), emailParts, 'emails') : { [emailParts.get(sub) ?? sub]: unwrap(value) };
  if (chosen.length === 0) {
    requireFew('emails', emails.length + 1, emailsMax);
    chosen.push(newEmail(emails, path.filter));
  }
  for (const one of chosen) Object.assign(one, change);
  if (change.primary !== undefined && v.is(directoryBoolean, change.primary)) keepOnePrimary(emails, chosen[0] as Attributes);
}

/** Entra ID sets `emails[type eq "work"].value` of users without such an address. Other filters have no target. */
function newEmail(emails: Attributes[], filter: Filter | null): Attributes {
  const made: Attributes = {};
  const conditions = filter === null ? [] : filter.op === 'and' ? filter.filters : [filter];
  for (const one of conditions) {
    if (one.op !== 'eq') throw new ScimError('noTarget', 'emails: no address matches the filter');
    const part = emailParts.get(one.attrPath.toLowerCase());
    if (part !== undefined) made[part] = one.compValue;
  }
  emails.push(made);
  return made;
}

function requireFew(attribute: string, count: number, max: number): void {
  if (count > max) throw new ScimError('invalidValue', `${attribute}: the operations make a list of more than ${max} elements`);
}

function addEmail(emails: Attributes[], one: Attributes): void {
  const same = emails.find((other) => isSameAddress(other, one));
  if (same) Object.assign(same, one);
  else emails.push(one);
  if (one.primary !== undefined && v.is(directoryBoolean, one.primary)) keepOnePrimary(emails, same ?? one);
}

function isSameAddress(one: Attributes, other: Attributes): boolean {
  return String(one.value).toLowerCase() === String(other.value).toLowerCase();
}

function keepOnePrimary(emails: readonly Attributes[], chosen: Attributes): void {
  if (v.parse(directoryBoolean, chosen.primary) !== true) return;
  for (const one of emails) if (one !== chosen) delete one.primary;
}

function listOf(value: unknown): Attributes[] {
  const list = Array.isArray(value) ? value : [value];
  return list.map((one) => (isObject(one) ? partsOf(one, emailParts, 'emails') : { value: one }));
}

function unwrapList(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

function partsOf(value: unknown, parts: Names, field: string): Attributes {
  if (!isObject(value)) throw new ScimError('invalidValue', `${field}: an object is expected`);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      const part = parts.get(key.toLowerCase());
      return part === undefined ? [] : [[part, inner]];
    }),
  );
}

/** Returns the test of a filter on an element of a list. Texts match in any case (RFC 7643 §4.1.2); the parser's own test is exact. */
function elementTest(filter: Filter): (element: Attributes) => boolean {
  const test = matcher(inLowerCase(filter));
  const lower = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : value);
  return (element) => test(Object.fromEntries(Object.entries(element).map(([name, value]) => [name, lower(value)])));
}

/** `primary eq "True"` compares a text; the stored value is a boolean. */
function inLowerCase(filter: Filter): Filter {
  if ('filters' in filter) return { ...filter, filters: filter.filters.map(inLowerCase) };
  if ('filter' in filter) return { ...filter, filter: inLowerCase(filter.filter) };
  if (!('compValue' in filter)) return filter;
  const text = String(filter.compValue).toLowerCase();
  if (filter.attrPath.toLowerCase() === 'primary') return { ...filter, compValue: text === 'true' };
  return typeof filter.compValue === 'string' ? { ...filter, compValue: text } : filter;
}
