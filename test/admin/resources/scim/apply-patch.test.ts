import { describe, expect, it } from 'vitest';
import { applyPatch } from '../../../../admin/resources/scim-users/apply-patch.ts';
import type { DirectoryUser } from '../../../../admin/resources/scim-users/attributes.ts';
import { patchSteps } from '../../../../admin/scim/patch.ts';
import { userSchema } from '../../../../admin/scim/urns.ts';

const user = { userName: 'a@example.com', emails: [{ value: 'a@example.com', primary: true }], groups: [] } as DirectoryUser;
const patch = (...Operations: { op: 'add' | 'remove' | 'replace'; path: string; value?: unknown }[]) =>
  applyPatch(user, patchSteps({ Operations }, userSchema));
const addresses = (count: number, from = 0) => Array.from({ length: count }, (_, i) => ({ value: `b${from + i}@example.com` }));

it.each([
  ['many addresses in one operation', () => patch({ op: 'add', path: 'emails', value: addresses(100_000) }), 'emails'],
  ['a list of many addresses', () => patch({ op: 'replace', path: 'emails', value: addresses(100_000) }), 'emails'],
  [
    'an address in each of many operations',
    () => patch(...Array.from({ length: 1_000 }, (_, i) => ({ op: 'add' as const, path: 'emails', value: addresses(1, i) }))),
    'emails',
  ],
  [
    'an address by a filter in each of many operations',
    () =>
      patch(
        ...Array.from({ length: 1_000 }, (_, i) => ({
          op: 'add' as const,
          path: `emails[type eq "t${i}"].value`,
          value: 'c@d.com',
        })),
      ),
    'emails',
  ],
  ['many groups', () => patch({ op: 'add', path: 'groups', value: addresses(100_000) }), 'groups'],
])('operations on a user of a directory: %s are refused before they are compared', { timeout: 20_000 }, (_, run, attribute) => {
  expect(run).toThrow(`${attribute}: the operations make a list of more than`);
});

it('operations on a user of a directory: ordinary lists are changed', () => {
  expect(patch({ op: 'add', path: 'emails', value: addresses(19) }).emails).toHaveLength(20);
  const values = addresses(3);
  expect(
    patch({ op: 'add', path: 'groups', value: values }, { op: 'remove', path: 'groups', value: [values[1]] }).groups,
  ).toEqual([values[0], values[2]]);
});

describe('operations on the addresses of a user', () => {
  const [work, home] = [
    { value: 'a@example.com', type: 'Work', primary: true },
    { value: 'b@example.com', type: 'home' },
  ];
  const change = (op: 'add' | 'remove' | 'replace', path: string, value?: unknown) =>
    applyPatch({ ...user, emails: [work, home] }, patchSteps({ Operations: [{ op, path, value }] }, userSchema)).emails;

  it.each([
    'type eq "work"',
    'TYPE Eq "WORK"',
    'value eq "A@Example.com"',
    'value sw "A@" and primary eq "True"',
    'not (type eq "HOME")',
  ])('select in any case: %s', (filter) => {
    expect(change('remove', `emails[${filter}]`)).toEqual([home]);
    expect(change('replace', `emails[${filter}].value`, 'c@example.com')).toEqual([{ ...work, value: 'c@example.com' }, home]);
  });

  it('remove an address that is sent in another case', () => {
    expect(change('remove', 'emails', [{ value: 'B@EXAMPLE.com' }])).toEqual([work]);
  });

  it('keep an address if a part of it is removed that is not stored', () => {
    expect(change('remove', 'emails[type eq "home"].display')).toEqual([work, home]);
  });
});

it.each([
  ['active[value eq true]', 'active: not a list'],
  ['title[value eq "x"]', 'title: not a list'],
  ['userName.value', 'userName.value: userName has no parts'],
  ['name[givenName eq "x"].givenName', 'name: not a list'],
])('operations on a user of a directory: a path that no value has is refused: %s', (path, message) => {
  expect(() => patch({ op: 'replace', path, value: 'b' })).toThrow(message);
});

it('operations on a user of a directory: a part of a group is not read as the whole list', () => {
  const groups = [{ value: 'one' }, { value: 'two' }];
  const remove = (path: string) =>
    applyPatch({ ...user, groups }, patchSteps({ Operations: [{ op: 'remove', path }] }, userSchema));
  expect(() => remove('groups.display')).toThrow('groups.display: read-only');
  expect(() => remove('groups[value eq "one"].display')).toThrow('groups.display: read-only');
  expect(remove('groups[value eq "ONE"]').groups).toEqual([{ value: 'two' }]);
});

it('operations on a user of a directory: filters that compare too many values are refused', () => {
  const groups = Array.from({ length: 2_000 }, (_, index) => ({ value: `group-${index}` }));
  const path = `groups[${Array.from({ length: 50 }, (_, index) => `value eq "${index}"`).join(' or ')}]`;
  const removing = (count: number) =>
    applyPatch({ ...user, groups }, patchSteps({ Operations: Array(count).fill({ op: 'remove', path }) }, userSchema));
  expect(removing(5).groups).toHaveLength(2_000);
  expect(() => removing(6)).toThrow('Operations: the filters compare too many values');
});
